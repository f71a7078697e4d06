// Package hooks holds the registered webhooks and delivers their messages.
//
// The messages of one hook are sent one after the other, in the order in which they were announced, by a goroutine that
// runs until the queue is empty. A failed message is retried on the emulator's clock; after the last attempt it is
// undeliverable. Alerts are sent while undeliverable messages remain. The state is under the lock of the ledger, so
// that booking an item and queueing its messages are one step. No lock is held while a message is in flight.
package hooks

import (
	"crypto/x509"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	faults   *faults.Queue
	sender   *http.Client
	slots    chan struct{} // limits deliveries in flight
	attempts *ring.Ring[state.Delivery]

	byID  map[string]*Hook
	order []*Hook
}

// Options are the choices that the reference leaves open about webhooks.
type Options struct {
	MediaType    string
	Roots        *x509.CertPool
	HTTPLoopback bool
	Lenient      bool // any address and filter
	Signature    Signing
	Retries      []time.Duration
	Timeout      time.Duration
	AlertEvery   time.Duration
	LogSize      int
}

// New makes a registry without hooks. Deliveries use the armed faults.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, running *activity.Activity, armed *faults.Queue, with Options) *Hooks {
	return &Hooks{
		ledger: books, clock: c, ids: from, activity: running, with: with, faults: armed, sender: newSender(with),
		slots: make(chan struct{}, 8), attempts: ring.New(with.LogSize, math.MaxInt, func(state.Delivery) int { return 0 }), byID: make(map[string]*Hook),
	}
}

// Hook is a registered webhook with its undelivered messages.
type Hook struct {
	Config
	ID            string
	Undeliverable []*state.Message
	queue         []*state.Message
	current       *state.Message // in flight, and not in the queue
	sending       bool           // a goroutine drains the queue
	alerting      bool           // an alert is scheduled
	deleted       bool
}

type hookBody struct {
	ID                  string            `json:"id"`
	URI                 string            `json:"uri"`
	Scope               []state.CompanyID `json:"scope"`
	Filter              string            `json:"filter_spec"`
	Enabled             bool              `json:"enabled"`
	Reliability         string            `json:"reliability_mode"`
	LastUndeliverable   *state.MessageID  `json:"last_undeliverable"`
	LastUndeliverableAt *wire.DateTime    `json:"last_undeliverable_timestamp"`
	KeyID               string            `json:"hmac_key_id"`
}

const (
	reliabilityStore = "store_undeliverable"
	anyTransaction   = "*" // the only filter_spec that the reference shows
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
	l := s.ledger.RLock()
	defer l.RUnlock()
	return exchange.Paged(c, s.order, func(to []byte, h *Hook) []byte { return wire.AppendJSON(to, h.body()) })
}

// Get handles GET /hooks/{id}.
func (s *Hooks) Get(c *exchange.Call) exchange.Response {
	l := s.ledger.RLock()
	defer l.RUnlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	return c.JSON(http.StatusOK, h.body())
}

// hookNotFound refuses an unknown ID with the code that the operation lists for it, or else for an invalid request.
func hookNotFound(c *exchange.Call) exchange.Response {
	return c.Invalid("hook_id", "the hook does not exist")
}

// Limit checks the members that settings limit.
func (s *Hooks) Limit(config *Config, fault func(field, rule string)) {
	switch {
	case s.with.Lenient:
	case config.URI != "" && !s.isHookURI(config.URI):
		fault("uri", "must be a valid HTTPS URI")
	case config.Filter != "" && config.Filter != anyTransaction:
		fault("filter_spec", "must be "+anyTransaction)
	}
}

func (s *Hooks) further(config *Config, found *wire.Faults) { s.Limit(config, found.Add) }

// Create handles POST /hooks.
func (s *Hooks) Create(c *exchange.Call) exchange.Response {
	config, refusal := exchange.Body(c, s.further)
	if refusal != nil {
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
		config.Scope = slices.Clone(config.Scope)
	}
	v.RUnlock()
	if _, refusal := exchange.Body(c, s.further); refusal != nil {
		return *refusal
	}
	if h == nil {
		return hookNotFound(c)
	}
	if err := c.Decode(&config); err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	if c.Has("scope") && !s.mayWatch(config.Scope) {
		return c.Refuse(http.StatusBadRequest, "invalid_scope", "the caller cannot access a company of the scope")
	}
	if config.Enabled && (c.Has("enabled") || c.Has("uri")) && !s.ping(c, h.ID, config) {
		return noResponse(c)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	if h.deleted {
		return hookNotFound(c)
	}
	// Another change may have arrived while the receiver handled the ping: set only the members that were sent.
	h.Scope = slices.Clone(h.Scope)
	_ = c.Decode(&h.Config) // it was decoded before
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
	l := s.ledger.RLock()
	defer l.RUnlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	return exchange.Paged(c, h.Undeliverable, func(to []byte, m *state.Message) []byte { return append(to, m.Body...) })
}

// DismissUndeliverable handles POST /hooks/{id}/undeliverable/dismiss. It dismisses all listed messages, or none if one
// is unknown.
func (s *Hooks) DismissUndeliverable(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		Messages []string `json:"message_ids"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	stored, dismissed := make(map[string]bool, len(h.Undeliverable)), make(map[string]bool, len(in.Messages))
	for _, m := range h.Undeliverable {
		stored[string(m.ID)] = true
	}
	for _, id := range in.Messages {
		dismissed[id] = true
		if !stored[id] {
			return c.Refuse(http.StatusBadRequest, "invalid_message_id", "message_ids has an id that is not undeliverable")
		}
	}
	h.Undeliverable = slices.DeleteFunc(slices.Clone(h.Undeliverable), func(m *state.Message) bool { return dismissed[string(m.ID)] })
	return exchange.Done(http.StatusNoContent)
}

// isHookURI accepts https (user information is allowed) and, if the options allow it, http on loopback.
func (s *Hooks) isHookURI(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false
	}
	if port, err := strconv.Atoi(parsed.Port()); parsed.Port() != "" && (err != nil || port > math.MaxUint16) {
		return false
	}
	if parsed.Scheme == "http" && s.with.HTTPLoopback {
		ip := net.ParseIP(parsed.Hostname())
		return parsed.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	}
	return parsed.Scheme == "https"
}

// Attempts returns the delivery attempts that the log still has, oldest first.
func (s *Hooks) Attempts() []state.Delivery { return s.attempts.All() }

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
