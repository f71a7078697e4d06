package prepaidtest

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
)

// hookConfig is what a caller sets (2.13).
type hookConfig struct {
	uri         string
	scope       []int64
	filter      string
	enabled     bool
	reliability string
	keyID       string
	secret      string
}

// hooks holds the registered webhooks and delivers their messages. The ledger's lock guards the state.
type hooks struct {
	ledger   *ledger.Ledger
	clock    *clock.Clock
	ids      *ids.Source
	under    *activity.Activity
	with     hookOptions
	faults   *faults.Queue[faults.Delivery]
	sender   *http.Client
	slots    chan struct{} // for deliveries on their way
	attempts *ring.Ring[Attempt]

	byID  map[string]*hook
	order []*hook
}

// hookOptions are what the reference leaves open about webhooks.
type hookOptions struct {
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

func newHooks(ledger *ledger.Ledger, clock *clock.Clock, from *ids.Source, under *activity.Activity, faults *faults.Queue[faults.Delivery], with hookOptions) *hooks {
	return &hooks{
		ledger: ledger, clock: clock, ids: from, under: under, with: with, faults: faults, sender: newSender(with),
		slots: make(chan struct{}, 8), attempts: ring.New[Attempt](with.LogSize), byID: make(map[string]*hook),
	}
}

// hook is a registered webhook with its undelivered messages.
type hook struct {
	hookConfig
	id            string
	undeliverable []*message
	queue         []*message
	current       *message // on its way, and not in the queue
	sending       bool     // a goroutine works on the queue
	alerting      bool     // an alert is due some time
	deleted       bool
}

type hookBody struct {
	ID                  string         `json:"id"`
	URI                 string         `json:"uri"`
	Scope               []int64        `json:"scope"`
	Filter              string         `json:"filter_spec"`
	Enabled             bool           `json:"enabled"`
	Reliability         string         `json:"reliability_mode"`
	LastUndeliverable   *string        `json:"last_undeliverable"`
	LastUndeliverableAt *wire.DateTime `json:"last_undeliverable_timestamp"`
	KeyID               string         `json:"hmac_key_id"`
}

const (
	reliabilityNone  = "none"
	reliabilityStore = "store_undeliverable"
)

func (h *hook) body() hookBody {
	body := hookBody{
		ID: h.id, URI: h.uri, Scope: h.scope, Filter: h.filter, Enabled: h.enabled, Reliability: h.reliability, KeyID: h.keyID,
	}
	if n := len(h.undeliverable); n > 0 && h.reliability == reliabilityStore {
		body.LastUndeliverable = new(h.undeliverable[n-1].id)
		body.LastUndeliverableAt = new(wire.DateTime(h.undeliverable[n-1].at))
	}
	return body
}

// listHooks answers GET /hooks.
func (s *hooks) listHooks(c *exchange.Call) exchange.Response {
	var page wire.PageRequest
	if refusal := c.BindQuery(func(q *wire.Query) { q.Paging(&page) }); refusal != nil {
		return *refusal
	}
	l := s.ledger.RLock()
	defer l.RUnlock()
	return exchange.Paged(c, page, s.order, func(to []byte, h *hook) []byte { return wire.AppendJSON(to, h.body()) })
}

// getHook answers GET /hooks/{id}. For an unknown id it gives 400 invalid_hook_id, the reference's only code for
// that.
func (s *hooks) getHook(c *exchange.Call) exchange.Response {
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

// bindHook reads the members of a hook into config, which holds the present values for a change.
func (s *hooks) bindHook(c *exchange.Call, config *hookConfig, whole bool) (sent hookSent, refusal *exchange.Response) {
	var faults wire.Faults
	refusal = c.BindBodyInto(&faults, func(b *wire.Reader) { sent = s.bindHookMembers(b, config, whole) })
	if refusal != nil || len(faults.Found) == 0 {
		return sent, refusal
	}
	return sent, new(c.Refuse(http.StatusBadRequest, hookCode(faults.Found[0].Field), faults.Describe()))
}

func (s *hooks) bindHookMembers(b *wire.Reader, config *hookConfig, whole bool) (sent hookSent) {
	var scope []int64
	members := []wire.Value{
		b.String("uri", &config.uri).Form(s.isHookURI, "must be a valid HTTPS URI").Seen(&sent.uri),
		b.Integers("scope", &scope).Seen(&sent.scope),
		b.String("filter_spec", &config.filter).Form(s.isFilter, "is not a known filter"),
		b.Boolean("enabled", &config.enabled).Seen(&sent.enabled),
		b.String("reliability_mode", &config.reliability).OneOf(reliabilityNone, reliabilityStore),
		b.String("hmac_key_id", &config.keyID).Form(isKeyID, "must have 1 to 64 ASCII letters, digits and symbols, no semicolon"),
		b.String("hmac_key_secret", &config.secret).Form(isKeySecret, "must have exactly 64 hex characters"),
	}
	members[1].Limit(len(scope) > 0, "must name at least one company")
	if sent.scope {
		config.scope = scope
	}
	if whole {
		for _, member := range members {
			member.Required()
		}
	}
	return sent
}

// hookSent says which members a change has.
type hookSent struct{ uri, scope, enabled bool }

// hookCode is the code of 4.8 for a member; elements of the scope count as the scope.
func hookCode(field string) string {
	name, _, _ := strings.Cut(field, "[")
	if slices.Contains([]string{"uri", "scope", "filter_spec", "enabled", "reliability_mode", "hmac_key_id", "hmac_key_secret"}, name) {
		return "invalid_" + name
	}
	return "invalid_request"
}

// createHook answers POST /hooks. All members are required, since none is marked optional.
func (s *hooks) createHook(c *exchange.Call) exchange.Response {
	var config hookConfig
	if _, refusal := s.bindHook(c, &config, true); refusal != nil {
		return *refusal
	}
	if !s.mayWatch(config.scope) {
		return c.Refuse(http.StatusUnauthorized, "unauthorized", "the caller cannot access a company of the scope")
	}
	h := &hook{hookConfig: config, id: s.ids.UUID()}
	if config.enabled && !s.ping(c, h.id, config) {
		return noResponse(c)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	s.byID[h.id] = h
	s.order = append(s.order, h)
	return c.JSON(http.StatusCreated, struct {
		ID string `json:"id"`
	}{h.id})
}

func noResponse(c *exchange.Call) exchange.Response {
	return c.Refuse(http.StatusBadRequest, "no_response", "the ping to the hook failed")
}

func (s *hooks) mayWatch(scope []int64) bool {
	l := s.ledger.RLock()
	defer l.RUnlock()
	return !slices.ContainsFunc(scope, func(id int64) bool { return !l.Permitted(id) })
}

// updateHook answers PATCH /hooks/{id}. It pings when the hook is enabled by the change, or stays enabled and
// gets another address. Nothing changes when the ping fails.
func (s *hooks) updateHook(c *exchange.Call) exchange.Response {
	v := s.ledger.RLock()
	h := s.byID[c.Params[0]]
	var config hookConfig
	if h != nil {
		config = h.hookConfig
	}
	v.RUnlock()
	if h == nil {
		return hookNotFound(c)
	}
	sent, refusal := s.bindHook(c, &config, false)
	if refusal != nil {
		return *refusal
	}
	if sent.scope && !s.mayWatch(config.scope) {
		return c.Refuse(http.StatusBadRequest, "invalid_scope", "the caller cannot access a company of the scope")
	}
	if config.enabled && (sent.enabled || sent.uri) && !s.ping(c, h.id, config) {
		return noResponse(c)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	if h.deleted {
		return hookNotFound(c)
	}
	// Another change may have come in while the receiver thought about the ping: only what was sent is set.
	config = h.hookConfig
	if _, refusal := s.bindHook(c, &config, false); refusal != nil {
		return *refusal
	}
	h.hookConfig = config
	return exchange.Done(http.StatusOK)
}

// deleteHook answers DELETE /hooks/{id}. A hook that is not there is deleted already: 204, the row's only answer
// beside 401 and 500.
func (s *hooks) deleteHook(c *exchange.Call) exchange.Response {
	l := s.ledger.Lock()
	defer l.Unlock()
	if h := s.byID[c.Params[0]]; h != nil {
		h.deleted = true
		delete(s.byID, h.id)
		s.order = slices.DeleteFunc(slices.Clone(s.order), func(other *hook) bool { return other == h })
	}
	return exchange.Done(http.StatusNoContent)
}

// listUndeliverable answers GET /hooks/{id}/undeliverable with complete messages, oldest first.
func (s *hooks) listUndeliverable(c *exchange.Call) exchange.Response {
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
	return exchange.Paged(c, page, h.undeliverable, func(to []byte, m *message) []byte { return append(to, m.body...) })
}

// dismissUndeliverable answers POST /hooks/{id}/undeliverable/dismiss: all of the ids, or none when one is
// unknown.
func (s *hooks) dismissUndeliverable(c *exchange.Call) exchange.Response {
	var ids []string
	var faults wire.Faults
	if refusal := c.BindBodyInto(&faults, func(b *wire.Reader) {
		b.Strings("message_ids", &ids).Required().Limit(len(ids) > 0, "must have at least one id")
	}); refusal != nil {
		return *refusal
	}
	if len(faults.Found) > 0 || len(ids) == 0 {
		return c.Unusable(faults.Describe())
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	h := s.byID[c.Params[0]]
	if h == nil {
		return hookNotFound(c)
	}
	stored, dismissed := make(map[string]bool, len(h.undeliverable)), make(map[string]bool, len(ids))
	for _, m := range h.undeliverable {
		stored[m.id] = true
	}
	for _, id := range ids {
		dismissed[id] = true
		if !stored[id] {
			return c.Refuse(http.StatusBadRequest, "invalid_message_id", "message_ids has an id that is not undeliverable")
		}
	}
	h.undeliverable = slices.DeleteFunc(slices.Clone(h.undeliverable), func(m *message) bool { return dismissed[m.id] })
	return exchange.Done(http.StatusNoContent)
}

// isHookURI accepts https, with user information too, and http on loopback when the server is set so.
func (s *hooks) isHookURI(text string) bool {
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

func (s *hooks) isFilter(spec string) bool {
	_, known := s.with.Filters[spec]
	return known || spec == "*"
}

// isKeyID allows visible ASCII but the semicolon.
func isKeyID(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == ';' {
			return false
		}
	}
	return len(text) >= 1 && len(text) <= 64
}

func isKeySecret(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 64
}

// exists reports whether a hook is registered.
func (s *hooks) exists(id string) bool {
	l := s.ledger.RLock()
	defer l.RUnlock()
	return s.byID[id] != nil
}

// put adds a hook without a ping.
func (s *hooks) put(_ ledger.Locked, config hookConfig) {
	h := &hook{hookConfig: config, id: s.ids.UUID()}
	s.byID[h.id] = h
	s.order = append(s.order, h)
}

// resume sends what was waiting when the state was saved.
func (s *hooks) resume() {
	l := s.ledger.Lock()
	defer l.Unlock()
	for _, h := range s.order {
		if len(h.queue) > 0 && s.under.Begin(len(h.queue)) {
			s.startSending(l, h)
		}
	}
}

// close closes idle connections.
func (s *hooks) close() { s.sender.CloseIdleConnections() }
