package prepaidtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// text is the text that Save writes.
func (c *caller) text() string {
	c.t.Helper()
	var text bytes.Buffer
	require.NoError(c.t, c.Save(&text))
	return text.String()
}

// restart saves and closes the server and continues with another that begins from the state, with the same token.
func (c *caller) restart(options Options) *caller {
	c.t.Helper()
	text := c.text()
	require.NoError(c.t, c.Close())
	options.State = strings.NewReader(text)
	next := startWithoutToken(c.t, options)
	next.token = c.token
	return next
}

const transferText = `{"request_id":"r1","amount":1.25,"source_reference":"s","destination_reference":"d",
	"destination_account_id":"to","transaction_type":1}`

func TestSave_TokenAndRepeatedTransfer(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddAccount(SeedAccount{ID: "from", Balance: "10", Key: "k"})
	c.AddAccount(SeedAccount{ID: "to"})
	first := c.post("accounts/from/transfer", transferText).ok()

	c = c.restart(Options{})
	require.Equal(t, string(first.body), string(c.post("accounts/from/transfer", transferText).ok().body))
	require.Equal(t, 1, c.Movements("r1"))
	require.Equal(t, "8.75", c.Balance("from"))
	other := c.post("accounts/from/transfer", strings.Replace(transferText, "r1", "r2", 1)).ok()
	number := func(a reply) int64 {
		n, err := a.object()["transaction_id"].(json.Number).Int64()
		require.NoError(t, err)
		return n
	}
	require.Greater(t, number(other), number(first), "numbers go on")

	c.Advance(31 * 24 * time.Hour)
	c.get("accounts/from").refused(401, "unauthorized")
	c.token = c.newToken()
	c = c.restart(Options{})
	require.NotEqual(t, string(first.body), string(c.post("accounts/from/transfer", transferText).ok().body), "expired")
	require.Equal(t, 2, c.Movements("r1"))
	require.Len(t, c.get("accounts?client_id=acme&client_account_key=k").ok().list(), 1)
}

func TestSave_RetriesUndeliverableAndAlerts(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	options := Options{FrozenClock: true, WebhookRoots: r.pool(), DeliveryRetries: []time.Duration{time.Minute}, AlertEvery: 10 * time.Minute}
	c := start(t, options)
	id := c.AddAccount(SeedAccount{})
	hook := c.post("hooks", hookText(t, r.URL, nil)).object()["id"].(string)
	r.respond(503)
	c.Adjust(id, "1")
	require.NoError(t, c.WaitIdle(t.Context()))

	c = c.restart(options)
	require.Equal(t, 204, c.get("hooks/"+hook+"/undeliverable").status)
	c.Advance(time.Minute)
	require.NoError(t, c.WaitIdle(t.Context()))
	r.mu.Lock()
	require.Len(t, r.raw, 3, "ping, attempt, attempt")
	require.Equal(t, string(r.raw[1]), string(r.raw[2]))
	require.Equal(t, r.headers[1].Get("X-Signature"), r.headers[2].Get("X-Signature"))
	r.mu.Unlock()
	missed := string(c.get("hooks/" + hook + "/undeliverable").ok().body)

	r.respond(200)
	c = c.restart(options)
	require.Equal(t, missed, string(c.get("hooks/"+hook+"/undeliverable").ok().body))
	c.Advance(10 * time.Minute)
	require.NoError(t, c.WaitIdle(t.Context()))
	require.Equal(t, []string{"ping", "transaction", "transaction", "undeliverable_alert"}, r.types())
}

// A message being sent, and those queued after it, are sent after the restart, if the state was saved before or
// after Close.
func TestSave_InterruptedMessages(t *testing.T) {
	t.Parallel()
	for _, closeFirst := range []bool{false, true} {
		var calls atomic.Int64
		stuck, release := make(chan struct{}, 1), make(chan struct{})
		r := newReceiver(t)
		usual := r.Config.Handler
		r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			if calls.Add(1) == 2 { // after the ping
				stuck <- struct{}{}
				<-release
				return
			}
			usual.ServeHTTP(w, request)
		})
		options := Options{FrozenClock: true, WebhookRoots: r.pool()}
		c := start(t, options)
		id := c.AddAccount(SeedAccount{})
		c.addHook(hookText(t, r.URL, nil))
		for _, amount := range []string{"1", "2", "3"} {
			c.Adjust(id, amount)
		}
		<-stuck
		text := c.text()
		require.NoError(t, c.Close())
		if closeFirst {
			require.Equal(t, text, c.text())
		}
		close(release)
		options.State = strings.NewReader(text)
		next := NewServer(t, options)
		require.NoError(t, next.WaitIdle(t.Context()))
		require.Equal(t, []string{"ping", "transaction", "transaction", "transaction"}, r.types())
		deliveries := next.Deliveries()
		require.Len(t, deliveries, 3)
		require.Equal(t, 1, deliveries[0].Attempt, "the one cut short does not count")
	}
}

func TestSave_Reports(t *testing.T) {
	t.Parallel()
	options := Options{FrozenClock: true, ReportDelay: time.Minute, TokenLifetime: 24 * time.Hour}
	c := start(t, options)
	id := c.AddAccount(SeedAccount{Balance: "10"})
	c.AddReportCSV("fixed", "a,b\n1,2\n")
	c.AddReport("own", func(w io.Writer, _ bool) (int, error) { return fmt.Fprint(w, "x") })
	runs := make(map[string]string)
	begin := func(name string) {
		path := "reporting/templates/" + name
		runs[name] = path + "/reports/" + string(c.get(path+"?include_column_headers=true").ok().body)
	}
	for _, name := range []string{DailySettlement, "fixed", "own"} {
		begin(name)
	}
	c.Adjust(id, "5")
	c = c.restart(options)
	for name, path := range runs {
		require.Equal(t, 204, c.get(path).status)
		c.get("reporting/templates/"+name+"?include_column_headers=true").refused(map[bool]int{true: 400, false: 409}[name == "own"],
			map[bool]string{true: "invalid_request", false: "duplicate_request"}[name == "own"])
	}
	c.AddReportCSV("fixed", "c\n3\n")
	c = c.restart(options)
	c.Advance(time.Minute)
	require.Equal(t, "a,b\n1,2\n", c.get(runs["fixed"]).ok().object()["reportdata"], "as it was started")
	require.Equal(t, json.Number("1"), c.get(runs[DailySettlement]).ok().object()["totalrecords"], "without the later item")
	c.get(runs["own"]).refused(500, "server_error")
	c.AddReport("own", func(w io.Writer, _ bool) (int, error) { return fmt.Fprint(w, "x") })
	require.Equal(t, "x", c.get(runs["own"]).ok().object()["reportdata"])
	begin("fixed")
	c.Advance(time.Minute)
	require.Equal(t, "c\n3\n", c.get(runs["fixed"]).ok().object()["reportdata"])
	c.Advance(4 * time.Hour)
	c = c.restart(options)
	c.get(runs["fixed"]).refused(400, "invalid_request")
}

func TestSave_SeededIDsDoNotRepeat(t *testing.T) {
	t.Parallel()
	c := start(t, Options{RandomSeed: new(uint64(1))})
	seen := map[string]bool{c.token: true}
	for range 3 {
		for range 5 {
			token := c.newToken()
			require.False(t, seen[token])
			seen[token] = true
		}
		c = c.restart(Options{RandomSeed: new(uint64(1))})
	}
	a, b := start(t, Options{RandomSeed: new(uint64(2))}), start(t, Options{RandomSeed: new(uint64(2))})
	b = b.restart(Options{})
	require.Equal(t, a.newToken(), b.newToken(), "and the source goes on as without a restart")
}

// Any state that is saved, loaded and saved again is the same text.
func TestSave_Property(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	r := newReceiver(t)
	options := Options{
		FrozenClock: true, Kind: true, RandomSeed: &seed, RateLimit: -1, TokenLifetime: 240 * time.Hour, SimulationDelay: 10 * time.Minute, WebhookRoots: r.pool(),
		DeliveryRetries: []time.Duration{time.Minute, time.Hour}, ReportDelay: time.Minute,
	}
	p := newProperty(start(t, options))
	for range 6 {
		p.accounts = append(p.accounts, p.AddAccount(SeedAccount{Balance: "500", Key: "k"}))
	}
	for range 2 {
		p.post("hooks", hookText(t, r.URL, nil)).object()
	}
	p.withKeyPair()
	for range 4 {
		for range 60 {
			if random.IntN(8) == 0 {
				r.respond([]int{200, 503}[random.IntN(2)])
			}
			p.step(random)
			p.extra(random)
		}
		p.ClearFaults()
		require.NoError(t, p.WaitIdle(t.Context()))
		before := p.text()
		p.caller = p.restart(options)
		require.Equal(t, before, p.text())
	}
	p.Advance(time.Hour)
	p.checkHistories()
	p.checkTransfers()
	p.checkRequestIDs()
	p.checkRedemptions()
}

// extra makes requests that the property test of the money does not.
func (p *property) extra(random *rand.Rand) {
	account := p.accounts[random.IntN(len(p.accounts))]
	switch random.IntN(12) {
	case 0:
		_ = p.get("reporting/templates/" + DailySettlement + "?include_column_headers=true")
	case 1:
		p.AddWalletToken(account, WalletToken{Suspenders: []string{"issuer"}})
	case 2:
		_ = p.post("pin/initiate", `{"device_id":"d","ip_address":"i","communication_method":"sms","eaid":"`+account+`"}`).ok()
	case 3:
		_ = p.post("policy/42/categories", fmt.Sprintf(`{"add":[%d],"remove":[%d]}`, random.IntN(9999), random.IntN(9999)))
	case 4:
		p.newToken()
	case 5:
		p.AddReportCSV("fixed", fmt.Sprintf("a\n%d\n", random.IntN(3)))
		_ = p.get("reporting/templates/fixed?include_column_headers=false")
	}
}
