package prepaidtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const hookSecret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// receiver is a webhook endpoint with TLS.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	status   int
	messages []map[string]any
	headers  []http.Header
	raw      [][]byte
	methods  []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: 200}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		text, err := io.ReadAll(request.Body)
		var message map[string]any
		if err != nil || json.Unmarshal(text, &message) != nil {
			w.WriteHeader(400)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.messages, r.headers, r.raw = append(r.messages, message), append(r.headers, request.Header), append(r.raw, text)
		r.methods = append(r.methods, request.Method)
		w.WriteHeader(r.status)
	}))
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // a test refuses its certificate
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// startHooked starts a server that trusts a new receiver.
func startHooked(t *testing.T, options Options) (*receiver, *caller) {
	t.Helper()
	r := newReceiver(t)
	options.WebhookRoots = r.pool()
	return r, start(t, options)
}

func (r *receiver) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return pool
}

func (r *receiver) respond(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// types returns the type of each message so far.
func (r *receiver) types() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var types []string
	for _, message := range r.messages {
		types = append(types, message["type"].(string))
	}
	return types
}

func hookText(t *testing.T, uri string, changes map[string]any) string {
	t.Helper()
	return body(t, body(t, `{"scope":[42],"filter_spec":"*","enabled":true,"reliability_mode":"store_undeliverable","hmac_key_id":"k1","hmac_key_secret":"`+hookSecret+`"}`,
		map[string]any{"uri": uri}), changes)
}

func (c *caller) addHook(text string) string {
	c.t.Helper()
	got := c.post("hooks", text)
	require.Equal(c.t, 201, got.status, string(got.body))
	object := got.object()
	require.Len(c.t, object, 1)
	return object["id"].(string)
}

func (c *caller) quiet() {
	c.t.Helper()
	require.NoError(c.t, c.WaitIdle(c.t.Context()))
}

func TestSpec_4_8_RegisterAndRead(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{PageSizes: PageSizes{Least: 1, Normal: 2, Most: 5}})
	c.get("hooks").empty(204)
	id := c.addHook(hookText(t, r.URL, nil))
	require.True(t, wire.IsUUID(id))
	require.Equal(t, []string{"ping"}, r.types())
	require.Equal(t, id, r.messages[0]["hook_id"])
	require.Equal(t, map[string]any{
		"id": id, "uri": r.URL, "scope": []any{json.Number("42")}, "filter_spec": "*", "enabled": true, "reliability_mode": "store_undeliverable",
		"last_undeliverable": nil, "last_undeliverable_timestamp": nil, "hmac_key_id": "k1",
	}, c.get("hooks/"+id).ok().object())
	for range 2 {
		c.addHook(hookText(t, r.URL, map[string]any{"enabled": false}))
	}
	require.Len(t, r.types(), 1, "no ping to a hook that is not enabled")
	page := c.get("hooks?page_number=2").ok()
	require.Len(t, page.list(), 1)
	require.Equal(t, "3", page.header.Get("X-TotalItems"))
	c.get("hooks?page_number=3").refused(400, "invalid_request")
}

func TestSpec_5_Rule6_HookScope401OnRegistration400OnChange(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{PermittedCompanies: []prepaid.CompanyID{42}})
	c.AddCompany(Company{ID: 7, ClientID: "seven"})
	for _, scope := range [][]int{{7}, {42, 7}, {99}} {
		c.post("hooks", hookText(t, r.URL, map[string]any{"scope": scope})).refused(401, "unauthorized")
	}
	id := c.addHook(hookText(t, r.URL, nil))
	c.do("PATCH", "hooks/"+id, `{"scope":[42,7]}`).refused(400, "invalid_scope")
	c.do("PATCH", "hooks/"+id, `{"scope":[42]}`).empty(200)
}

// If an enabled hook gets another address, that is pinged; other changes ping nothing.
func TestSpec_3_3_AnotherAddressIsPinged(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	id := c.addHook(hookText(t, r.URL, nil))
	c.do("PATCH", "hooks/"+id, `{"reliability_mode":"none"}`).empty(200)
	require.Len(t, r.types(), 1, "nothing to ping for")
	c.do("PATCH", "hooks/"+id, `{"uri":"`+r.URL+`/other"}`).empty(200)
	require.Len(t, r.types(), 2)

	none, err := Start(Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, none.Close()) }()
	untrusting := &caller{Server: none, t: t, http: c.http}
	untrusting.token = untrusting.newToken()
	untrusting.post("hooks", hookText(t, r.URL, nil)).refused(400, "no_response")
	require.Contains(t, none.Deliveries()[0].Problem, "certificate")
}

func TestSpec_6_TransactionMessage(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	c.AddCompany(Company{ID: 7, ClientID: "seven"})
	c.AddCompany(Company{ID: 8, ClientID: "eight"})
	id := c.addHook(hookText(t, r.URL, map[string]any{"scope": []int{8, 42}}))
	c.AddAccount(SeedAccount{CompanyID: 7, Balance: "9"})
	from := c.AddAccount(SeedAccount{Balance: "50"})
	to := c.AddAccount(SeedAccount{CompanyID: 7})
	c.post("accounts/"+from+"/transfer", transferTo(t, to, nil)).ok()
	c.quiet()
	require.Equal(t, []string{"ping", "transaction", "transaction"}, r.types(), "in order, and of company 42 alone")
	message := r.messages[2]
	require.Equal(t, id, message["hook_id"])
	_, err := time.Parse(time.RFC3339, message["timestamp"].(string))
	require.NoError(t, err)
	transaction := message["transaction"].(map[string]any)
	require.Len(t, transaction, 17)
	require.Equal(t, -25.5, transaction["amount"])
	deliveries := c.Deliveries()
	require.Len(t, deliveries, 3)
	require.Equal(t, Delivery{Time: deliveries[2].Time, HookID: prepaid.HookID(id), MessageID: prepaid.MessageID(message["id"].(string)), Type: "transaction", Body: deliveries[2].Body, Attempt: 1, Status: 200, Delivered: true}, deliveries[2])
	sent, err := json.Marshal(message)
	require.NoError(t, err)
	require.JSONEq(t, string(sent), deliveries[2].Body)
}

func hookSum(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// hookSignature is the sum in the default form.
func hookSignature(t *testing.T, secret string, text []byte) string {
	t.Helper()
	key, err := hex.DecodeString(secret)
	require.NoError(t, err)
	return hex.EncodeToString(hookSum(key, text))
}

func TestSpec_5_Rule7_SignatureIsASetting(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	c.addHook(hookText(t, r.URL, nil))
	require.Equal(t, hookSignature(t, hookSecret, r.raw[0]), r.headers[0].Get("X-Signature"))
	require.Equal(t, "k1", r.headers[0].Get("X-Hmac-Key-Id"))
	require.Equal(t, vendorJSON, r.headers[0].Get("Content-Type"))

	r, c = startHooked(t, Options{Signature: &Signature{Header: "Sig", Prefix: "v1=", Base64: true, KeyText: true}})
	c.addHook(hookText(t, r.URL, nil))
	require.Equal(t, "v1="+base64.StdEncoding.EncodeToString(hookSum([]byte(hookSecret), r.raw[0])), r.headers[0].Get("Sig"))
	require.Empty(t, r.headers[0].Get("X-Hmac-Key-Id"))

	r, c = startHooked(t, Options{Signature: &Signature{}})
	c.addHook(hookText(t, r.URL, nil))
	require.Empty(t, r.headers[0].Get("X-Signature"))
}

func TestSpec_3_4_UndeliverableUntilDismissed(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, TokenLifetime: 100 * time.Hour})
	id := c.addHook(hookText(t, r.URL, nil))
	path := "hooks/" + id + "/undeliverable"
	c.get(path).empty(204)
	r.respond(503)
	account := c.AddAccount(SeedAccount{Balance: "1"})
	for range 3 {
		c.Adjust(account, "1")
	}
	c.quiet()
	stored := c.get(path + "?page_size=3").ok()
	require.Equal(t, "4", stored.header.Get("X-TotalItems"))
	require.Len(t, stored.list(), 3)
	all := c.get(path).list()
	last := all[3]
	hook := c.get("hooks/" + id).object()
	require.Equal(t, last["id"], hook["last_undeliverable"])
	require.Equal(t, last["timestamp"], hook["last_undeliverable_timestamp"])

	dismiss := func(ids ...any) reply {
		return c.post(path+"/dismiss", body(t, `{}`, map[string]any{"message_ids": ids}))
	}
	sent := len(r.types())
	c.Advance(time.Hour)
	c.quiet()
	require.Equal(t, "undeliverable_alert", r.types()[sent])
	require.Len(t, c.get(path).list(), 4, "an alert is not stored")
	r.respond(200)
	dismiss(last["id"]).empty(204)
	require.Equal(t, all[2]["id"], c.get("hooks/" + id).object()["last_undeliverable"])
	c.Advance(time.Hour)
	c.quiet()
	require.Len(t, r.types(), sent+2, "alerts go on while one remains")
	c.do("PATCH", "hooks/"+id, `{"reliability_mode":"none"}`).empty(200)
	require.Nil(t, c.get("hooks/" + id).object()["last_undeliverable"], "hidden")
	c.do("PATCH", "hooks/"+id, `{"reliability_mode":"store_undeliverable"}`).empty(200)
	dismiss(all[0]["id"], all[1]["id"], all[2]["id"]).empty(204)
	require.Nil(t, c.get("hooks/" + id).object()["last_undeliverable"])
	c.get(path).empty(204)
	c.Advance(3 * time.Hour)
	c.quiet()
	require.Len(t, r.types(), sent+2, "and stop when all are dismissed")

	c.do("PATCH", "hooks/"+id, `{"reliability_mode":"none"}`).empty(200)
	r.respond(503)
	c.Adjust(account, "1")
	c.quiet()
	c.get(path).empty(204)
}

func TestSpec_6_DeliveryRetriesAreASetting(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, DeliveryRetries: []time.Duration{time.Second, time.Minute}})
	id := c.addHook(hookText(t, r.URL, nil))
	r.respond(500)
	account := c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(time.Second)
	c.quiet()
	r.respond(200)
	c.Advance(time.Minute)
	c.quiet()
	var attempts []int
	for _, delivery := range c.Deliveries()[1:] {
		require.Equal(t, c.Deliveries()[1].MessageID, delivery.MessageID)
		attempts = append(attempts, delivery.Attempt)
	}
	require.Equal(t, []int{1, 2, 3}, attempts)
	c.get("hooks/" + id + "/undeliverable").empty(204)

	r.respond(500)
	c.Adjust(account, "1")
	c.quiet()
	c.get("hooks/" + id + "/undeliverable").empty(204)
	for range 2 {
		c.Advance(time.Minute)
		c.quiet()
	}
	require.Len(t, c.get("hooks/"+id+"/undeliverable").list(), 1)
}

func TestSpec_4_8_HTTPOnLoopbackIsASetting(t *testing.T) {
	t.Parallel()
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(r.Close)
	c := start(t, Options{AllowHTTPOnLoopback: true})
	c.addHook(hookText(t, r.URL, nil))
	c.post("hooks", hookText(t, "http://192.0.2.1/", nil)).refused(400, "invalid_uri")
	c.post("hooks", hookText(t, "ftp://127.0.0.1/", nil)).refused(400, "invalid_uri")
}

// Close ends a hanging delivery. A ping without a response in time fails.
func TestSpec_6_DeliveryTimeoutIsASetting(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		asked <- struct{}{}
		<-request.Context().Done()
	}))
	t.Cleanup(r.Close)
	c := start(t, Options{AllowHTTPOnLoopback: true, DeliveryTimeout: time.Nanosecond})
	c.post("hooks", hookText(t, r.URL, nil)).refused(400, "no_response")

	c = start(t, Options{AllowHTTPOnLoopback: true, DeliveryTimeout: time.Hour})
	c.InjectDelivery("", LoseMessage().WithPings())
	c.addHook(hookText(t, r.URL, nil))
	c.AddAccount(SeedAccount{Balance: "1"})
	<-asked
	require.NoError(t, c.Close())
}
