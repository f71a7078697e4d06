package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"iter"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// HooksService manages webhooks; package webhook receives them.
type HooksService struct{ client *Client }

// ReliabilityMode decides how undeliverable messages are treated.
type ReliabilityMode string

const (
	ReliabilityModeNone               ReliabilityMode = "none"                // undeliverable messages are lost
	ReliabilityModeStoreUndeliverable ReliabilityMode = "store_undeliverable" // undeliverable messages are stored until dismissed
)

// FilterAll matches every transaction. The reference specifies no other rule.
const FilterAll = "*"

// Hook is a registered webhook (section 2.13), without the key's secret.
type Hook struct {
	ID HookID `json:"id" required:""` // identifies the hook; a response without it is an error
	// URI is the https address that receives messages. Required in a response. Printed without user information.
	URI             string          `json:"uri" redact:"user" required:""`
	Scope           []CompanyID     `json:"scope"`            // the monitored companies
	FilterSpec      string          `json:"filter_spec"`      // the filter rule; FilterAll matches everything
	Enabled         bool            `json:"enabled"`          // a disabled hook receives and stores nothing
	ReliabilityMode ReliabilityMode `json:"reliability_mode"` // decides how undeliverable messages are treated
	// LastUndeliverable is the latest undeliverable message that was not dismissed; empty if there is none, or with ReliabilityModeNone.
	LastUndeliverable   MessageID `json:"last_undeliverable,omitzero"`
	LastUndeliverableAt time.Time `json:"last_undeliverable_timestamp,omitzero"` // the time of LastUndeliverable; zero if there is none
	HMACKeyID           string    `json:"hmac_key_id"`                           // the ID of the current key
}

func listHooks(paging Paging) pageList[Hook] {
	var v validator
	v.paging(paging)
	return pageList[Hook]{
		request: request{op: opHooksList, faults: v.faults}, paging: paging,
		identity: func(h *Hook) string { return string(h.ID) }, leaves: true,
	}
}

// List iterates over the hooks. Safety: read. API: GET /hooks.
func (s *HooksService) List(ctx context.Context, paging Paging) iter.Seq2[*Hook, error] {
	return listHooks(paging).all(ctx, &s.client.core)
}

// ListPage returns one page of List. Safety: read. API: GET /hooks.
func (s *HooksService) ListPage(ctx context.Context, paging Paging) (*Page[Hook], error) {
	return listHooks(paging).page(ctx, &s.client.core)
}

func hookRequest(op operation, id HookID) (request, validator) {
	var v validator
	if op.class == classRead {
		v.readID("id", string(id))
	} else {
		v.pathID("id", string(id))
	}
	return request{op: op, path: pathValues{string(id)}}, v
}

// Get returns a hook. Safety: read. API: GET /hooks/{id}.
func (s *HooksService) Get(ctx context.Context, id HookID) (*Hook, error) {
	r, v := hookRequest(opHooksGet, id)
	r.faults = v.faults
	return fetch[Hook](ctx, s.client, r)
}

// CreateHookParams registers a hook; all seven fields are required.
type CreateHookParams struct {
	URI        string      `json:"uri" redact:"user"` // an https address; user information in it is sent, but not printed
	Scope      []CompanyID `json:"scope"`             // the companies to monitor; required; an empty list that is not nil monitors none
	FilterSpec string      `json:"filter_spec"`       // the filter rule; FilterAll matches everything
	// Enabled is always sent. If true, the service pings URI before it responds; if false, it registers the hook without a ping.
	Enabled         bool            `json:"enabled"`
	ReliabilityMode ReliabilityMode `json:"reliability_mode"` // decides how undeliverable messages are treated
	HMACKeyID       string          `json:"hmac_key_id"`      // 1 to 64 ASCII letters, digits and symbols, no white space, no semicolon
	HMACKeySecret   Secret          `json:"hmac_key_secret"`  // the key: exactly 64 hex characters
}

type createdHook struct {
	ID HookID `json:"id" required:""`
}

func (p CreateHookParams) check(v *validator) {
	v.required("uri", p.URI)
	v.httpsURI("uri", p.URI)
	if p.Scope == nil {
		v.fault("scope", ruleRequired)
	}
	v.required("filter_spec", p.FilterSpec)
	v.requiredOneOf("reliability_mode", string(p.ReliabilityMode), p.ReliabilityMode.values())
	v.required("hmac_key_id", p.HMACKeyID)
	v.hmacKeyID("hmac_key_id", p.HMACKeyID)
	if p.HMACKeySecret.IsZero() {
		v.fault("hmac_key_secret", ruleRequired)
	}
	v.hmacKeySecret("hmac_key_secret", p.HMACKeySecret)
}

// Create registers a hook and returns its ID. After [OutcomeUnknown] look for the URI with List. Errors: [CodeInvalidURI] and the codes of
// other fields, [CodeNoResponse], [CodeInvalidRequest]; [CodeUnauthorized] for an inaccessible company. Safety: never repeated. API: POST
// /hooks.
func (s *HooksService) Create(ctx context.Context, params CreateHookParams) (HookID, error) {
	v := s.client.validator()
	params.check(&v)
	created, err := fetch[createdHook](ctx, s.client, request{op: opHooksCreate, faults: v.faults}.with(params))
	if err != nil {
		return "", err
	}
	return created.ID, nil
}

// UpdateHookParams changes a hook. Zero and nil fields are not sent.
type UpdateHookParams struct {
	URI        string      `json:"uri,omitzero" redact:"user"` // an https address; user information in it is sent, but not printed
	Scope      []CompanyID `json:"scope,omitzero"`             // the companies to monitor; nil keeps them
	FilterSpec string      `json:"filter_spec,omitzero"`       // the filter rule
	// Enabled true makes the service ping the address before it responds; nil keeps the state.
	Enabled         *bool           `json:"enabled,omitzero"`
	ReliabilityMode ReliabilityMode `json:"reliability_mode,omitzero"` // decides how undeliverable messages are treated
	// HMACKeyID names the key: 1 to 64 ASCII letters, digits and symbols, no white space, no semicolon.
	HMACKeyID     string `json:"hmac_key_id,omitzero"`
	HMACKeySecret Secret `json:"hmac_key_secret,omitzero"` // the key: exactly 64 hex characters
}

func (p UpdateHookParams) check(v *validator) {
	if v.text("uri", p.URI, 0) {
		v.httpsURI("uri", p.URI)
	}
	v.text("filter_spec", p.FilterSpec, 0)
	v.oneOf("reliability_mode", string(p.ReliabilityMode), p.ReliabilityMode.values())
	v.hmacKeyID("hmac_key_id", p.HMACKeyID)
	v.hmacKeySecret("hmac_key_secret", p.HMACKeySecret)
}

// Update changes a hook. After [OutcomeUnknown] read the hook with Get, which shows a new HMACKeySecret only by a new HMACKeyID. Errors:
// those of Create. Safety: never repeated. API: PATCH /hooks/{id}.
func (s *HooksService) Update(ctx context.Context, id HookID, params UpdateHookParams) error {
	r, v := hookRequest(opHooksUpdate, id)
	v.lax = s.client.config.SkipValueChecks
	params.check(&v)
	r.faults = v.faults
	return send(ctx, s.client, r.with(params))
}

// Delete removes a hook. Errors: [ErrUnauthorized]. Safety: repeated; [OutcomeUnknown] if a repeat finds no hook. API: DELETE /hooks/{id}.
func (s *HooksService) Delete(ctx context.Context, id HookID) error {
	r, v := hookRequest(opHooksDelete, id)
	r.faults = v.faults
	return send(ctx, s.client, r)
}

func listUndeliverable(id HookID, paging Paging) pageList[Message] {
	r, v := hookRequest(opHooksUndeliverable, id)
	v.paging(paging)
	r.faults = v.faults
	return pageList[Message]{request: r, paging: paging, identity: messageIdentity, leaves: true}
}

// messageIdentity returns the ID of a message or, without an ID, its content. Stored messages should have IDs; Drain
// reports those that do not.
func messageIdentity(m *Message) string { return cmp.Or(string(m.ID), string(m.Raw)) }

// Undeliverable iterates over stored messages; webhook.Drain dismisses them. Errors: [CodeInvalidHookID]. Safety: read. API: GET
// /hooks/{id}/undeliverable.
func (s *HooksService) Undeliverable(ctx context.Context, id HookID, paging Paging) iter.Seq2[*Message, error] {
	return listUndeliverable(id, paging).all(ctx, &s.client.core)
}

// UndeliverablePage returns one page of [HooksService.Undeliverable]. Errors: [CodeInvalidHookID]. Safety: read.
// API: GET /hooks/{id}/undeliverable.
func (s *HooksService) UndeliverablePage(ctx context.Context, id HookID, paging Paging) (*Page[Message], error) {
	return listUndeliverable(id, paging).page(ctx, &s.client.core)
}

// Dismiss removes stored messages. Errors: [CodeInvalidHookID]; [CodeInvalidMessageID], also for a dismissed message. Safety: never
// repeated; after [OutcomeUnknown] list them. API: POST /hooks/{id}/undeliverable/dismiss.
func (s *HooksService) Dismiss(ctx context.Context, id HookID, messageIDs ...MessageID) error {
	r, v := hookRequest(opHooksDismiss, id)
	if len(messageIDs) == 0 {
		v.fault("message_ids", "must name at least one message")
	}
	for i, message := range messageIDs {
		v.required(index("message_ids", i, ""), string(message))
	}
	r.faults = v.faults
	return send(ctx, s.client, r.with(struct {
		MessageIDs []MessageID `json:"message_ids"`
	}{messageIDs}))
}

// MessageType is the type of a message; the reference names "transaction".
type MessageType string

// MessageTypeTransaction is a transaction on a company in the hook's scope.
const MessageTypeTransaction MessageType = "transaction"

// Message is a webhook message (sections 2.14 and 6): envelope and raw JSON.
type Message struct {
	ID        MessageID       // identifies the message; a ping may have none
	HookID    HookID          // the hook for which the message was sent
	Timestamp time.Time       // when the message was created, in UTC
	Type      MessageType     // MessageTypeTransaction for a transaction
	Raw       json.RawMessage `redact:"content"` // the complete message; the reference does not specify the payload beyond the envelope
}

// messageEnvelope is a Message with the JSON members that every message has.
type messageEnvelope struct {
	ID        MessageID       `json:"id,omitzero"`
	HookID    HookID          `json:"hook_id,omitzero"`
	Timestamp time.Time       `json:"timestamp,omitzero"`
	Type      MessageType     `json:"type,omitzero"`
	Raw       json.RawMessage `json:"-"`
}

// UnmarshalJSON reads and copies a message. Errors: a *[DecodeError].
func (m *Message) UnmarshalJSON(data []byte) error {
	var envelope messageEnvelope
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return &DecodeError{Err: errNotJSON}
	}
	if err := jsonv2.Unmarshal(data, &envelope, decodeOptions); err != nil {
		return &DecodeError{Err: errNotJSON}
	}
	*m = Message(envelope)
	m.Raw = bytes.Clone(data)
	return nil
}

// MarshalJSON writes Raw or, if Raw is empty, the envelope.
func (m Message) MarshalJSON() ([]byte, error) {
	if len(m.Raw) > 0 {
		return m.Raw, nil
	}
	return jsonv2.Marshal(messageEnvelope(m), encodeOptions)
}

// Decode unmarshals the complete message into your own struct.
func (m *Message) Decode(into any) error {
	return unmarshal(&response{body: m.Raw}, into)
}

func (v *validator) hmacKeyID(field, value string) {
	v.match(field, value, "must be 1 to 64 ASCII letters, digits and symbols without white space and semicolon", 1, 64, func(r rune) bool {
		return r > ' ' && r <= '~' && r != ';'
	})
}

func (v *validator) hmacKeySecret(field string, secret Secret) {
	if secret.IsZero() {
		return
	}
	if key, err := hex.DecodeString(secret.Reveal()); err != nil || len(key) != 32 {
		v.fault(field, "must be 64 hex characters")
	}
}
