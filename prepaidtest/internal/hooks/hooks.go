// Package hooks holds the registered webhooks and delivers their messages.
//
// The messages of one hook are sent one after the other, in the order in which they were announced, by a goroutine that
// runs until the queue is empty. A failed message is retried on the emulator's clock; after the last attempt it is
// undeliverable. Alerts are sent while undeliverable messages remain. The state is under the lock of the ledger, so
// that booking an item and queueing its messages are one step. No lock is held while a message is in flight.
package hooks

import (
	"crypto/x509"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ring"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Config is the caller's input (2.13). Its JSON is used in the saved state.
type Config struct {
	URI         string            `json:"uri"`
	Scope       []state.CompanyID `json:"scope"`
	Filter      string            `json:"filter_spec"`
	Enabled     bool              `json:"enabled"`
	Reliability string            `json:"reliability_mode"`
	KeyID       string            `json:"hmac_key_id"`
	Secret      string            `json:"hmac_key_secret"`
}

// Hooks holds the registered webhooks and delivers their messages. The ledger's lock guards the state.
type Hooks struct {
	ledger   *ledger.Ledger
	clock    *clock.Clock
	ids      *ids.Source
	activity *activity.Activity
	with     Options
	faults   *faults.Queue[faults.Delivery]
	sender   *http.Client
	slots    chan struct{} // limits deliveries in flight
	attempts *ring.Ring[Attempt]

	byID  map[string]*Hook
	order []*Hook
}

// Options are the choices that the reference leaves open about webhooks.
type Options struct {
	MediaType    string
	Roots        *x509.CertPool
	HTTPLoopback bool
	Signature    Signing
	Retries      []time.Duration
	Timeout      time.Duration
	AlertEvery   time.Duration
	PingType     string
	AlertType    string
	Filters      map[string]func(ledger.Item) bool
	LogSize      int
}

// New makes a registry without hooks. Deliveries use the armed faults.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, running *activity.Activity, armed *faults.Queue[faults.Delivery], with Options) *Hooks {
	return &Hooks{
		ledger: books, clock: c, ids: from, activity: running, with: with, faults: armed, sender: newSender(with),
		slots: make(chan struct{}, 8), attempts: ring.New[Attempt](with.LogSize), byID: make(map[string]*Hook),
	}
}

// Hook is a registered webhook with its undelivered messages.
type Hook struct {
	Config
	ID            string
	Undeliverable []*Message
	queue         []*Message
	current       *Message // in flight, and not in the queue
	sending       bool     // a goroutine drains the queue
	alerting      bool     // an alert is scheduled
	deleted       bool
}

type hookBody struct {
	ID                  string            `json:"id"`
	URI                 string            `json:"uri"`
	Scope               []state.CompanyID `json:"scope"`
	Filter              string            `json:"filter_spec"`
	Enabled             bool              `json:"enabled"`
	Reliability         string            `json:"reliability_mode"`
	LastUndeliverable   *string           `json:"last_undeliverable"`
	LastUndeliverableAt *wire.DateTime    `json:"last_undeliverable_timestamp"`
	KeyID               string            `json:"hmac_key_id"`
}

const (
	reliabilityNone  = "none"
	reliabilityStore = "store_undeliverable"
)

func (h *Hook) body() hookBody {
	body := hookBody{
		ID: h.ID, URI: h.URI, Scope: h.Scope, Filter: h.Filter, Enabled: h.Enabled, Reliability: h.Reliability, KeyID: h.KeyID,
	}
	if n := len(h.Undeliverable); n > 0 && h.Reliability == reliabilityStore {
		body.LastUndeliverable = new(h.Undeliverable[n-1].ID)
		body.LastUndeliverableAt = new(wire.DateTime(h.Undeliverable[n-1].Time))
	}
	return body
}

// List handles GET /hooks.
func (s *Hooks) List(c *exchange.Call) exchange.Response {
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) { q.Paging(&page) }); refusal != nil {
		return *refusal
	}
	l := s.ledger.RLock()
	defer l.RUnlock()
	return exchange.Paged(c, page, s.order, func(to []byte, h *Hook) []byte { return wire.AppendJSON(to, h.body()) })
}

// Get handles GET /hooks/{id}. An unknown id gets 400 invalid_hook_id, the reference's only code for
// this case.
func (s *Hooks) Get(c *exchange.Call) exchange.Response {
	l := s.ledger.RLock()
	defer l.RUnlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	return c.JSON(http.StatusOK, h.body())
}

func hookNotFound(c *exchange.Call) exchange.Response {
	return c.Refuse(http.StatusBadRequest, "invalid_hook_id", "the hook does not exist")
}

// bindHook reads the members of a hook into config, which holds the current values when a hook is changed.
func (s *Hooks) bindHook(c *exchange.Call, config *Config, whole bool) (sent hookSent, refusal *exchange.Response) {
	var found wire.Faults
	refusal = c.BindBodyInto(&found, func(b *wire.Reader) { sent = s.bindMembers(b, config, whole) })
	if refusal != nil || len(found.Found) == 0 {
		return sent, refusal
	}
	return sent, new(c.Refuse(http.StatusBadRequest, hookCode(found.Found[0].Field), found.Describe()))
}

// BindMembers reads all members of a hook.
func (s *Hooks) BindMembers(b *wire.Reader, config *Config) { s.bindMembers(b, config, true) }

func (s *Hooks) bindMembers(b *wire.Reader, config *Config, whole bool) (sent hookSent) {
	var scope []int64
	members := []wire.Value{
		b.String("uri", &config.URI).Form(wire.Form{Holds: s.isHookURI, Rule: "must be a valid HTTPS URI", Format: "uri"}).Seen(&sent.uri),
		b.Integers("scope", &scope).Seen(&sent.scope),
		b.String("filter_spec", &config.Filter).Form(wire.Form{Holds: s.isFilter, Rule: "must be a known filter"}),
		b.Boolean("enabled", &config.Enabled).Seen(&sent.enabled),
		b.String("reliability_mode", &config.Reliability).OneOf(reliabilityNone, reliabilityStore),
		b.String("hmac_key_id", &config.KeyID).Form(keyID()),
		b.String("hmac_key_secret", &config.Secret).Form(keySecret()),
	}
	if sent.scope {
		config.Scope = make([]state.CompanyID, len(scope)) // an empty scope is an array, too
		for i, id := range scope {
			config.Scope[i] = state.CompanyID(id)
		}
	}
	if whole {
		for _, member := range members {
			member.Required()
		}
	}
	return sent
}

// hookSent reports which members a change has.
type hookSent struct{ uri, scope, enabled bool }

// hookCode returns the error code of 4.8 for a member; elements of the scope count as the scope.
func hookCode(field string) string {
	name, _, _ := strings.Cut(field, "[")
	if slices.Contains([]string{"uri", "scope", "filter_spec", "enabled", "reliability_mode", "hmac_key_id", "hmac_key_secret"}, name) {
		return "invalid_" + name
	}
	return "invalid_request"
}

// Create handles POST /hooks. All members are required, since none is marked optional.
func (s *Hooks) Create(c *exchange.Call) exchange.Response {
	var config Config
	if _, refusal := s.bindHook(c, &config, true); refusal != nil {
		return *refusal
	}
	if !s.mayWatch(config.Scope) {
		return c.Refuse(http.StatusUnauthorized, "unauthorized", "the caller cannot access a company of the scope")
	}
	h := &Hook{Config: config, ID: s.ids.UUID()}
	if config.Enabled && !s.ping(c, h.ID, config) {
		return noResponse(c)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	s.byID[h.ID] = h
	s.order = append(s.order, h)
	return c.JSON(http.StatusCreated, struct {
		ID string `json:"id"`
	}{h.ID})
}

func noResponse(c *exchange.Call) exchange.Response {
	return c.Refuse(http.StatusBadRequest, "no_response", "the ping to the hook failed")
}

func (s *Hooks) mayWatch(scope []state.CompanyID) bool {
	l := s.ledger.RLock()
	defer l.RUnlock()
	return !slices.ContainsFunc(scope, func(id state.CompanyID) bool { return !l.Permitted(id) })
}

// Update handles PATCH /hooks/{id}. It pings the receiver if the change enables the hook, or changes the address of
// an enabled hook. If this ping fails, Update changes nothing.
func (s *Hooks) Update(c *exchange.Call) exchange.Response {
	v := s.ledger.RLock()
	h := s.byID[c.Params[0]]
	var config Config
	if h != nil {
		config = h.Config
	}
	v.RUnlock()
	sent, refusal := s.bindHook(c, &config, false)
	if refusal != nil {
		return *refusal
	}
	if h == nil {
		return hookNotFound(c)
	}
	if sent.scope && !s.mayWatch(config.Scope) {
		return c.Refuse(http.StatusBadRequest, "invalid_scope", "the caller cannot access a company of the scope")
	}
	if config.Enabled && (sent.enabled || sent.uri) && !s.ping(c, h.ID, config) {
		return noResponse(c)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	if h.deleted {
		return hookNotFound(c)
	}
	// Another change may have arrived while the receiver handled the ping: set only the members that were sent.
	config = h.Config
	if _, refusal := s.bindHook(c, &config, false); refusal != nil {
		return *refusal
	}
	h.Config = config
	return exchange.Done(http.StatusOK)
}

// Delete handles DELETE /hooks/{id}. For an unknown hook it also returns 204: the operation has no other
// response except 401 and 500.
func (s *Hooks) Delete(c *exchange.Call) exchange.Response {
	l := s.ledger.Lock()
	defer l.Unlock()
	if h := s.byID[c.Params[0]]; h != nil {
		h.deleted = true
		delete(s.byID, h.ID)
		s.order = slices.DeleteFunc(slices.Clone(s.order), func(other *Hook) bool { return other == h })
	}
	return exchange.Done(http.StatusNoContent)
}

// ListUndeliverable handles GET /hooks/{id}/undeliverable with complete messages, oldest first.
func (s *Hooks) ListUndeliverable(c *exchange.Call) exchange.Response {
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) { q.Paging(&page) }); refusal != nil {
		return *refusal
	}
	l := s.ledger.RLock()
	defer l.RUnlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	return exchange.Paged(c, page, h.Undeliverable, func(to []byte, m *Message) []byte { return append(to, m.Body...) })
}

// DismissUndeliverable handles POST /hooks/{id}/undeliverable/dismiss. It dismisses all listed messages, or none if one
// is unknown.
func (s *Hooks) DismissUndeliverable(c *exchange.Call) exchange.Response {
	var named []string
	var found wire.Faults
	if refusal := c.BindBodyInto(&found, func(b *wire.Reader) {
		b.Strings("message_ids", &named).Required().NotEmpty("must have at least one id")
	}); refusal != nil {
		return *refusal
	}
	if len(found.Found) > 0 || len(named) == 0 {
		return c.Unusable(found.Describe())
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	stored, dismissed := make(map[string]bool, len(h.Undeliverable)), make(map[string]bool, len(named))
	for _, m := range h.Undeliverable {
		stored[m.ID] = true
	}
	for _, id := range named {
		dismissed[id] = true
		if !stored[id] {
			return c.Refuse(http.StatusBadRequest, "invalid_message_id", "message_ids has an id that is not undeliverable")
		}
	}
	h.Undeliverable = slices.DeleteFunc(slices.Clone(h.Undeliverable), func(m *Message) bool { return dismissed[m.ID] })
	return exchange.Done(http.StatusNoContent)
}

// isHookURI accepts https (user information is allowed) and, if the options allow it, http on loopback.
func (s *Hooks) isHookURI(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" {
		return false
	}
	if parsed.Scheme == "http" && s.with.HTTPLoopback {
		ip := net.ParseIP(parsed.Hostname())
		return parsed.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	}
	return parsed.Scheme == "https"
}

func (s *Hooks) isFilter(spec string) bool {
	_, known := s.with.Filters[spec]
	return known || spec == "*"
}

// isKeyID allows visible ASCII except the semicolon.
func isKeyID(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == ';' {
			return false
		}
	}
	return len(text) >= 1 && len(text) <= 64
}

// keyID is the form of hmac_key_id.
func keyID() wire.Form {
	return wire.Form{
		Holds: isKeyID, Rule: "must have 1 to 64 ASCII letters, digits and symbols, no semicolon", Pattern: "^[!-:<-~]{1,64}$",
	}
}

// keySecret is the form of hmac_key_secret.
func keySecret() wire.Form {
	return wire.Form{Holds: isKeySecret, Rule: "must have exactly 64 hex characters", Pattern: "^[0-9A-Fa-f]{64}$"}
}

func isKeySecret(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 64
}

// Attempts returns the delivery attempts that the log still has, oldest first.
func (s *Hooks) Attempts() []Attempt { return s.attempts.All() }

// All returns the hooks, oldest first.
func (s *Hooks) All(_ ledger.View) []*Hook { return s.order }

// Queued counts the messages in the queue.
func (h *Hook) Queued() int { return len(h.queue) }

// Exists reports whether a hook is registered.
func (s *Hooks) Exists(id string) bool {
	l := s.ledger.RLock()
	defer l.RUnlock()
	return s.byID[id] != nil
}

// Add adds a hook without a ping.
func (s *Hooks) Add(_ ledger.Locked, config Config) {
	h := &Hook{Config: config, ID: s.ids.UUID()}
	s.byID[h.ID] = h
	s.order = append(s.order, h)
}

// Resume sends the messages that were queued when the state was saved.
func (s *Hooks) Resume() {
	l := s.ledger.Lock()
	defer l.Unlock()
	for _, h := range s.order {
		if len(h.queue) > 0 && s.activity.Begin(len(h.queue)) {
			s.startSending(l, h)
		}
	}
}

// Close closes idle connections.
func (s *Hooks) Close() { s.sender.CloseIdleConnections() }
