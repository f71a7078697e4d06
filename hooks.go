package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/redact"
	"github.com/cardprograms/prepaid/internal/wire"
)

// HooksService manages webhooks; package webhook receives their messages. It is reached through [Client].Hooks; its
// zero value is not usable.
type HooksService struct{ client *Client }

// ReliabilityMode says what happens to messages that cannot be delivered. The zero value is no mode: refused in Create,
// left as it is in Update.
type ReliabilityMode string

const (
	// ReliabilityModeNone: they are lost.
	ReliabilityModeNone ReliabilityMode = "none"
	// ReliabilityModeStoreUndeliverable: they are stored until dismissed.
	ReliabilityModeStoreUndeliverable ReliabilityMode = "store_undeliverable"
)

// Known reports whether the reference lists the mode.
func (m ReliabilityMode) Known() bool {
	return m == ReliabilityModeNone || m == ReliabilityModeStoreUndeliverable
}

// FilterAll is the filter_spec that matches every transaction. The grammar of other rules is not in the reference.
const FilterAll = "*"

// Hook is a registered webhook (reference section 2.13). The key's secret is never returned. The zero value is none.
type Hook struct {
	// ID is a UUID. A response without it is an error.
	ID string `json:"id"`
	// URI is the https address that receives messages. A response without it is an error. fmt and slog print it without its
	// user information.
	URI string `json:"uri" redact:"user"`
	// Scope are the companies monitored.
	Scope []CompanyID `json:"scope"`
	// FilterSpec is the filter rule; FilterAll matches everything.
	FilterSpec string `json:"filter_spec"`
	// Enabled: a disabled hook receives nothing and stores nothing.
	Enabled bool `json:"enabled"`
	// ReliabilityMode says what happens to messages that cannot be delivered.
	ReliabilityMode ReliabilityMode `json:"reliability_mode"`
	// LastUndeliverable is the latest undeliverable message that was not dismissed; empty for none, and when the mode is
	// not store_undeliverable.
	LastUndeliverable string `json:"last_undeliverable,omitzero"`
	// LastUndeliverableAt is when that was; zero for none.
	LastUndeliverableAt time.Time `json:"last_undeliverable_timestamp,omitzero"`
	// HMACKeyID is the id of the current key.
	HMACKeyID string `json:"hmac_key_id"`
}

// Format prints h without the user information of its address.
func (h Hook) Format(f fmt.State, verb rune) { redact.Format(f, verb, h) }

// LogValue logs h without the user information of its address.
func (h Hook) LogValue() slog.Value { return redact.LogValue(h) }

// missing refuses a hook that cannot be addressed, or recognised after an unknown outcome of Create.
func (h *Hook) missing() bool { return h.ID == "" || h.URI == "" }

// ListHooksParams pages the list. The zero value starts at page 1.
type ListHooksParams struct {
	// Paging starts at page 1 when zero.
	Paging Paging
}

var opListHooks = operation{
	Operation: Operation{"Hooks.List", "GET", "/hooks"},
	class:     classRead, kind: responseJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p ListHooksParams) list() pageList[Hook] {
	var v validator
	v.paging(p.Paging)
	return pageList[Hook]{
		request: request{op: opListHooks, faults: v.faults}, paging: p.Paging,
		identity: func(h *Hook) string { return h.ID }, leaves: true,
	}
}

// List iterates over the hooks.
//
// Errors: [ErrListIncomplete] as a *[IncompleteListError], after all that was received, when fewer hooks were seen than
// the service counted, as when one is deleted meanwhile; [ErrPageRepeated] when it ignores the page number. Safety: read.
//
// API: GET /hooks.
func (s *HooksService) List(ctx context.Context, params ListHooksParams) iter.Seq2[*Hook, error] {
	return params.list().all(ctx, &s.client.core)
}

// ListPage returns one page of [HooksService.List].
//
// Errors: none of its own. Safety: read.
//
// API: GET /hooks.
func (s *HooksService) ListPage(ctx context.Context, params ListHooksParams) (*Page[Hook], error) {
	return params.list().page(ctx, &s.client.core)
}

func hookRequest(op operation, id string) (request, validator) {
	var v validator
	v.pathID("id", id)
	return request{op: op, path: pathValues{id}}, v
}

var opGetHook = operation{
	Operation: Operation{"Hooks.Get", "GET", "/hooks/{id}"},
	class:     classRead, kind: responseJSON, success: []int{200}, lane: LaneCall,
}

// Get returns a hook.
//
// Errors: none of its own; what an unknown id gives is not in the reference. Safety: read.
//
// API: GET /hooks/{id}.
func (s *HooksService) Get(ctx context.Context, id string) (*Hook, error) {
	r, v := hookRequest(opGetHook, id)
	r.faults = v.faults
	return fetch[Hook](ctx, s.client, r)
}

// CreateHookParams registers a hook; all seven fields are required, and Enabled is always sent. The zero value lacks
// them.
type CreateHookParams struct {
	// URI is an https address. User information in it is sent as it is; fmt and slog print the address without it.
	URI string `json:"uri" redact:"user"`
	// Scope are the companies to monitor, at least one.
	Scope []CompanyID `json:"scope"`
	// FilterSpec is FilterAll to match everything.
	FilterSpec string `json:"filter_spec"`
	// Enabled true has the service ping URI before it answers; false registers without a ping.
	Enabled bool `json:"enabled"`
	// ReliabilityMode says what happens to messages that cannot be delivered.
	ReliabilityMode ReliabilityMode `json:"reliability_mode"`
	// HMACKeyID names the key: 1 to 64 ASCII letters, digits and symbols, no white space, no semicolon.
	HMACKeyID string `json:"hmac_key_id"`
	// HMACKeySecret is the key: exactly 64 hex characters.
	HMACKeySecret Secret `json:"hmac_key_secret"`
}

// Format prints p without the user information of its address.
func (p CreateHookParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without the user information of its address.
func (p CreateHookParams) LogValue() slog.Value { return redact.LogValue(p) }

// CreatedHook is the answer of Create. The zero value is none.
type CreatedHook struct {
	// ID is the new hook's UUID.
	ID string `json:"id"`
}

func (h *CreatedHook) missing() bool { return h.ID == "" }

var opCreateHook = operation{
	Operation: Operation{"Hooks.Create", "POST", "/hooks"},
	class:     classNever, kind: responseJSON, success: []int{201}, lane: LaneCall,
}

// Create registers a hook; the service pings an enabled one before it answers. After [OutcomeUnknown] look for its
// URI with List.
//
// Errors: [CodeNoResponse], [CodeInvalidURI], [CodeInvalidScope], [CodeInvalidFilterSpec], [CodeInvalidEnabled],
// [CodeInvalidReliabilityMode], [CodeInvalidHMACKeyID], [CodeInvalidHMACKeySecret], [CodeInvalidRequest],
// [CodeUnauthorized] for a company this caller cannot access. Safety: never repeated once it may have arrived.
//
// API: POST /hooks.
func (s *HooksService) Create(ctx context.Context, params CreateHookParams) (*CreatedHook, error) {
	v := s.client.validator()
	v.required("uri", params.URI)
	v.httpsURI("uri", params.URI)
	if len(params.Scope) == 0 {
		v.fault("scope", "must name at least one company")
	}
	v.required("filter_spec", params.FilterSpec)
	requiredOneOf(&v, "reliability_mode", params.ReliabilityMode, ReliabilityModeNone, ReliabilityModeStoreUndeliverable)
	v.required("hmac_key_id", params.HMACKeyID)
	v.hmacKeyID("hmac_key_id", params.HMACKeyID)
	if params.HMACKeySecret.IsZero() {
		v.fault("hmac_key_secret", ruleRequired)
	}
	v.hmacKeySecret("hmac_key_secret", params.HMACKeySecret)
	return fetch[CreatedHook](ctx, s.client, request{op: opCreateHook, body: params, faults: v.faults})
}

// UpdateHookParams changes a hook: what is zero or nil is not sent and stays as it is.
// The zero value changes nothing.
type UpdateHookParams struct {
	// URI is an https address. User information in it is sent as it is; fmt and slog print the address without it.
	URI string `json:"uri,omitzero" redact:"user"`
	// Scope are the companies to monitor; nil keeps them.
	Scope []CompanyID `json:"scope,omitzero"`
	// FilterSpec is the filter rule.
	FilterSpec string `json:"filter_spec,omitzero"`
	// Enabled true has the service ping the address before it answers; nil keeps the state.
	Enabled *bool `json:"enabled,omitzero"`
	// ReliabilityMode says what happens to messages that cannot be delivered.
	ReliabilityMode ReliabilityMode `json:"reliability_mode,omitzero"`
	// HMACKeyID names the key: 1 to 64 ASCII letters, digits and symbols, no white space, no semicolon.
	HMACKeyID string `json:"hmac_key_id,omitzero"`
	// HMACKeySecret is the key: exactly 64 hex characters.
	HMACKeySecret Secret `json:"hmac_key_secret,omitzero"`
}

// Format prints p without the user information of its address.
func (p UpdateHookParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without the user information of its address.
func (p UpdateHookParams) LogValue() slog.Value { return redact.LogValue(p) }

var opUpdateHook = operation{
	Operation: Operation{"Hooks.Update", "PATCH", "/hooks/{id}"},
	class:     classNever, kind: responseNone, success: []int{200, 204}, lane: LaneCall,
}

// Update changes a hook. Read it back with Get after [OutcomeUnknown]; a new HMACKeySecret shows by its HMACKeyID alone.
//
// Errors: as Create, with [CodeInvalidScope] also for a company this caller cannot access. Safety: never repeated once it
// may have arrived: a late repeat would overwrite a newer change.
//
// API: PATCH /hooks/{id}.
func (s *HooksService) Update(ctx context.Context, id string, params UpdateHookParams) error {
	r, v := hookRequest(opUpdateHook, id)
	v.lax = s.client.config.SkipValueChecks
	if v.text("uri", params.URI, 0) {
		v.httpsURI("uri", params.URI)
	}
	v.text("filter_spec", params.FilterSpec, 0)
	oneOf(&v, "reliability_mode", params.ReliabilityMode, ReliabilityModeNone, ReliabilityModeStoreUndeliverable)
	v.hmacKeyID("hmac_key_id", params.HMACKeyID)
	v.hmacKeySecret("hmac_key_secret", params.HMACKeySecret)
	r.body, r.faults = params, v.faults
	return send(ctx, s.client, r)
}

var opDeleteHook = operation{
	Operation: Operation{"Hooks.Delete", "DELETE", "/hooks/{id}"},
	class:     classReplayable, kind: responseNone, success: []int{204, 200}, lane: LaneCall,
}

// Delete removes a hook.
//
// Errors: [ErrUnauthorized]. Safety: repeated, since a late repeat deletes nothing else; one that finds nothing after a
// cut-off attempt reports [OutcomeUnknown].
//
// API: DELETE /hooks/{id}.
func (s *HooksService) Delete(ctx context.Context, id string) error {
	r, v := hookRequest(opDeleteHook, id)
	r.faults = v.faults
	return send(ctx, s.client, r)
}

// ListUndeliverableParams pages the list. The zero value starts at page 1.
type ListUndeliverableParams struct {
	// Paging starts at page 1 when zero.
	Paging Paging
}

var opUndeliverable = operation{
	Operation: Operation{"Hooks.Undeliverable", "GET", "/hooks/{id}/undeliverable"},
	class:     classRead, kind: responseJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p ListUndeliverableParams) list(id string) pageList[Message] {
	r, v := hookRequest(opUndeliverable, id)
	v.paging(p.Paging)
	r.faults = v.faults
	return pageList[Message]{request: r, paging: p.Paging, identity: messageIdentity, leaves: true}
}

// messageIdentity is the content of a message without an id, which a stored one should have but Drain reports.
func messageIdentity(m *Message) string { return cmp.Or(m.ID, string(m.Raw)) }

// Undeliverable iterates over the stored messages of a hook. Dismissing while iterating shifts the pages: use
// webhook.Drain for that.
//
// Errors: [CodeInvalidHookID]; [ErrListIncomplete] as a *[IncompleteListError], after all that was received, when fewer
// messages were seen than the service counted, as when some are dismissed meanwhile; [ErrPageRepeated] when it ignores
// the page number. Safety: read.
//
// API: GET /hooks/{id}/undeliverable.
func (s *HooksService) Undeliverable(ctx context.Context, id string, params ListUndeliverableParams) iter.Seq2[*Message, error] {
	return params.list(id).all(ctx, &s.client.core)
}

// UndeliverablePage returns one page of [HooksService.Undeliverable].
//
// Errors: [CodeInvalidHookID]. Safety: read.
//
// API: GET /hooks/{id}/undeliverable.
func (s *HooksService) UndeliverablePage(ctx context.Context, id string, params ListUndeliverableParams) (*Page[Message], error) {
	return params.list(id).page(ctx, &s.client.core)
}

var opDismiss = operation{
	Operation: Operation{"Hooks.Dismiss", "POST", "/hooks/{id}/undeliverable/dismiss"},
	class:     classNever, kind: responseNone, success: []int{204, 200}, lane: LaneCall,
}

// Dismiss removes stored messages, at least one. After [OutcomeUnknown] list them again.
//
// Errors: [CodeInvalidHookID], [CodeInvalidMessageID] also for a message that was dismissed before. Safety: never
// repeated once it may have arrived.
//
// API: POST /hooks/{id}/undeliverable/dismiss.
func (s *HooksService) Dismiss(ctx context.Context, id string, messageIDs ...string) error {
	r, v := hookRequest(opDismiss, id)
	if len(messageIDs) == 0 {
		v.fault("message_ids", "must name at least one message")
	}
	for i, message := range messageIDs {
		v.required(index("message_ids", i, ""), message)
	}
	r.faults = v.faults
	r.body = struct {
		MessageIDs []string `json:"message_ids"`
	}{messageIDs}
	return send(ctx, s.client, r)
}

// MessageType is a message's type; of its values the reference names transaction only. Any other is kept as it came.
// The zero value is no type.
type MessageType string

// MessageTypeTransaction is a transaction on a company in the hook's scope.
const MessageTypeTransaction MessageType = "transaction"

// Known reports whether the reference names the type.
func (t MessageType) Known() bool { return t == MessageTypeTransaction }

// Message is a webhook message (reference sections 2.14 and 6): the envelope, and everything as it came. fmt and
// slog print the envelope only. The zero value is no message.
type Message struct {
	// ID identifies the message; a ping may have none.
	ID string
	// HookID is the hook it was sent for.
	HookID string
	// Timestamp is when it was made, in UTC.
	Timestamp time.Time
	// Type tells a transaction from the rest.
	Type MessageType
	// Raw is the whole message: the payload beyond the envelope is not in the reference.
	Raw json.RawMessage `redact:"content"`
}

// messageEnvelope is what every message has: its members as JSON.
type messageEnvelope struct {
	ID        string          `json:"id,omitzero"`
	HookID    string          `json:"hook_id,omitzero"`
	Timestamp time.Time       `json:"timestamp,omitzero"`
	Type      MessageType     `json:"type,omitzero"`
	Raw       json.RawMessage `json:"-"`
}

// ParseMessage reads the envelope of a message and keeps a copy of the whole.
func ParseMessage(data []byte) (*Message, error) {
	m := &Message{}
	if err := m.UnmarshalJSON(data); err != nil {
		return nil, &DecodeError{Err: errNotJSON}
	}
	return m, nil
}

// UnmarshalJSON reads the envelope and keeps a copy of the whole.
func (m *Message) UnmarshalJSON(data []byte) error {
	var envelope messageEnvelope
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return errNull
	}
	if err := jsonv2.Unmarshal(data, &envelope, decodeOptions); err != nil {
		return withoutContent(err)
	}
	*m = Message(envelope)
	m.Raw = bytes.Clone(data)
	return nil
}

// MarshalJSON writes the message as it came or, when Raw is empty, its envelope.
func (m Message) MarshalJSON() ([]byte, error) {
	if len(m.Raw) > 0 {
		return m.Raw, nil
	}
	return jsonv2.Marshal(messageEnvelope(m), encodeOptions)
}

// Decode reads the whole message as JSON into your own struct.
func (m *Message) Decode(into any) error {
	if err := jsonv2.Unmarshal(m.Raw, into, callerOptions); err != nil {
		return &DecodeError{Err: errNotJSON}
	}
	return nil
}

// Format prints the envelope.
func (m Message) Format(f fmt.State, verb rune) { redact.Format(f, verb, m) }

// LogValue logs the envelope.
func (m Message) LogValue() slog.Value { return redact.LogValue(m) }

// readWire reads the envelope and keeps a copy of the whole.
func (m *Message) readWire(r *wire.Reader) {
	m.Raw = bytes.Clone(r.Raw((*messageEnvelope)(m).readWire))
}
