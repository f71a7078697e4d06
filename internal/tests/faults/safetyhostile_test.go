package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A client that has only docs/safety.json makes as many attempts as TestOutcomeTable expects, and knows as much about their effect.
func TestSafetyFileIsEnough(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	for name, value := range map[string]float64{"attempts": 3, "throttle_least": 1, "throttle_most": 1, "throttle_total": 3, "backoff_most": 0} {
		file.Settings[name] = value // those of tableConfig
	}
	for _, fault := range wireFaults() {
		for _, c := range oneOfEachClass(t) {
			if c.isRaw() || c.exempt(&fault) {
				continue
			}
			want := c.want(&fault)
			onFile(t, file, &c, append([]wireFault{fault}, fault.then...), func(t *testing.T, client *fileClient, server *tableServer, target string) {
				t.Helper()
				outcome, sent := client.call(t.Context(), c.row.Name, target, c.fixture.Request.Body)
				server.Stop()
				require.Equal(t, outcomeLetters[strings.ReplaceAll(want[1:], "S", "A")].String(), outcome, fault.name)
				if want[0] == '+' {
					require.Greater(t, sent, 1)
				} else {
					require.Equal(t, want[:1], fmt.Sprint(sent), fault.name)
				}
				require.LessOrEqual(t, server.sum(), 1, "carried out twice")
				require.True(t, fault.unseen || sent == server.requests)
			})
		}
	}
}

// The formulas of the wait in docs/safety.json give the times of package liveness, however long the service is silent, and whether or not
// it is silent again.
func TestSafetyWaits(t *testing.T) {
	t.Parallel()
	file := readSafety(t)
	for _, attempt := range []float64{3, 10, 30, 60} {
		for _, silence := range []float64{0, 0.4, 0.7, 1, 1.01, 1.5, 2.5, 4, 10, 20, 36, 43, 100, 400} {
			file.Settings["attempt_timeout"] = attempt
			w := measuredWaits(t, scope(file.Settings), silence*attempt, 0)
			s := file.scope(file.Next["repeat"])
			s["first_sign"], s["second_sign"] = w.first, w.second
			if w.secondAsked == 0 { // the first response is late enough
				s["second_sign"], w.secondAsked = w.first, w.first
			}
			require.InDelta(t, s.value("first_sign_from"), w.firstAsked, 1e-6)
			require.InDelta(t, max(w.first, s.value("second_sign_from")), w.secondAsked, 1e-6, "%v, %v", attempt, silence)
			require.InDelta(t, s.value("repeat_from"), w.repeat, 1e-6)

			if w.first > 1000 { // soon it is gone anyway
				continue
			}
			for late, more := range map[float64]float64{-1e-3: 2, 1e-3: 3} {
				w := measuredWaits(t, scope(file.Settings), silence*attempt, s.value("second_sign_within")+late)
				require.GreaterOrEqual(t, w.signs, more, "%v, %v: a slow response is a first one", attempt, silence)
				require.True(t, more == 3 || w.signs == 2)
			}
		}
	}
}

// link connects a client to the emulator and can be down: a proxy then responds, and its kernel delivers the accepted requests later.
type link struct {
	http.RoundTripper

	from, until time.Time                                           // down
	late        func(arrives time.Duration) time.Duration           // when a request of this age is delivered after the end; nil: never
	page        func(*http.Request) (*http.Response, error)         // while it is down
	after       func(r *http.Request, response *http.Response) bool // of each request that arrives; reports whether its response is lost
	running     sync.WaitGroup
}

// RoundTrip delivers a request, now or later.
//
//waits:bubble
func (w *link) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	now := time.Now()
	if now.Before(w.from) || !now.Before(w.until) {
		response, err := w.RoundTripper.RoundTrip(r)
		if err == nil && w.after != nil && w.after(r, response) {
			_ = response.Body.Close()
			return nil, harness.ErrCut
		}
		return response, err
	}
	if w.late != nil && r.Method != http.MethodGet {
		body, _ := io.ReadAll(r.Body)
		w.running.Go(func() {
			age := w.until.Sub(now)
			time.Sleep(age + w.late(age))
			again := r.Clone(context.Background()) // the client is gone
			again.Body = io.NopCloser(bytes.NewReader(body))
			if response, err := w.RoundTripper.RoundTrip(again); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
	if w.page != nil {
		return w.page(r)
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// scene is a situation in which a careless client pays twice, or undoes a change that another program has made since.
type scene struct {
	name  string
	arm   func(srv *prepaidtest.Server, w *link)
	pause time.Duration // before the next call
	load  bool          // of a service that does not cache loads
	undo  string        // the operation whose late repeat would undo a block; else a payment is made
}

func scenes() []scene {
	transfer := harness.TransferOperation
	inject := func(faults ...prepaidtest.Fault) func(*prepaidtest.Server, *link) {
		return func(srv *prepaidtest.Server, _ *link) { srv.Inject(transfer, faults...) }
	}
	away := func(until time.Duration, late func(time.Duration) time.Duration, page harness.Step) func(*prepaidtest.Server, *link) {
		return func(srv *prepaidtest.Server, w *link) {
			srv.Inject(transfer, prepaidtest.Delay(9*time.Second).Always()) // the service needs that long
			w.from, w.until, w.late, w.page = time.Now(), time.Now().Add(until), late, page
		}
	}
	atOnce := func(time.Duration) time.Duration { return 0 }
	var all []scene
	add := func(name string, arm func(*prepaidtest.Server, *link)) {
		all = append(all, scene{name: name, arm: arm})
	}
	add("response lost", inject(prepaidtest.CommitThenDrop()))
	add("429 and a lapsed token", inject(prepaidtest.TooManyRequests(0).Times(3), prepaidtest.ExpireToken(), prepaidtest.CommitThenDrop()))
	for _, status := range []int{502, 503, 504} {
		for _, takes := range []time.Duration{time.Second, 9 * time.Second, 29 * time.Second, 39 * time.Second} {
			add(fmt.Sprint(status, " but carried out after ", takes), inject(prepaidtest.ProxyPage(status).CommitAfter(takes)))
		}
	}
	add("no response in time", inject(prepaidtest.Delay(38*time.Second)))
	for _, until := range []time.Duration{20 * time.Second, 46 * time.Second, 3 * time.Minute} {
		add(fmt.Sprint("frozen for ", until), away(until, atOnce, nil))
		for _, part := range []time.Duration{8, 4, 2, 1} {
			add(fmt.Sprint("network away for ", until, ", 1/", int(part)), away(until, func(age time.Duration) time.Duration { return min(age/part, 2*time.Minute) }, harness.Broken(harness.ErrCut)))
		}
		retransmitted := func(age time.Duration) time.Duration { return min(age, 2*time.Minute) }
		add(fmt.Sprint("gateway responds for ", until), away(until, retransmitted, func(r *http.Request) (*http.Response, error) {
			if harness.IsPathRead(r) {
				return harness.Respond(404, "application/json", `{"error":"not_found"}`)(r)
			}
			return harness.Respond(504, "", "")(r)
		}))
		add(fmt.Sprint("cache responds for ", until), away(until, retransmitted, func(r *http.Request) (*http.Response, error) {
			if harness.IsPathRead(r) {
				return harness.Respond(200, harness.VendorJSON, "{}", "Age: 60")(r)
			}
			return nil, harness.ErrCut
		}))
	}
	for name, refusal := range map[string]prepaidtest.Fault{
		"another code": prepaidtest.Respond(400, "duplicate_request"), "404": prepaidtest.Respond(404, "invalid_request"),
		"a gateway": prepaidtest.RespondBody(400, "application/json", `{"error":"invalid_request"}`), "403 in HTML": prepaidtest.ProxyPage(403),
	} {
		add("paid, the repeat refused by "+name, inject(prepaidtest.CommitThenDrop(), refusal))
	}
	add("not paid, the repeat refused", inject(prepaidtest.DropBeforeCommit(), prepaidtest.Respond(400, "invalid_request")))
	all = append(all, scene{name: "31 days later", arm: inject(prepaidtest.CommitThenDrop(), prepaidtest.Respond(500, "")), pause: 31 * 24 * time.Hour})
	all = append(all, scene{name: "a load", arm: inject(prepaidtest.CommitThenDrop()), load: true})
	for _, operation := range []string{"Accounts.SetStatus", "Accounts.SetPlasticEnabled"} {
		all = append(all, scene{name: "block after " + operation, undo: operation})
	}
	return all
}

// harmfulScenes returns the scenes in which a client of the file pays twice, or undoes a newer change.
func harmfulScenes(t *testing.T, file *safetyFile) (names []string) {
	t.Helper()
	for _, d := range scenes() {
		synctest.Test(t, func(t *testing.T) {
			srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, UncachedLoads: d.load})
			config, from, to := srv.Config(), srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
			network := &link{RoundTripper: config.Transport}
			tokens := harness.NewClient(t, config)
			client := &fileClient{
				safetyFile: *file, base: strings.TrimSuffix(srv.URL, "/3.0/"), vendor: config.Vendor, transport: network, unknown: map[string]time.Time{},
				token: func(rejected string) string {
					if rejected != "" {
						_, _ = tokens.Accounts.Summary(t.Context(), from) // its token has lapsed, too
					}
					token, err := tokens.Token(t.Context())
					require.NoError(t, err)
					return token.AccessToken
				},
			}
			account := "/3.0/accounts/" + string(from)
			if d.undo != "" {
				network.after = func(r *http.Request, _ *http.Response) bool {
					network.after = nil
					srv.SetStatus(from, "lost_or_stolen")
					require.NoError(t, tokens.Accounts.SetPlasticEnabled(t.Context(), from, prepaid.SetPlasticEnabledParams{}))
					return r.Method == http.MethodPut
				}
				if d.undo == "Accounts.SetStatus" {
					_, _ = client.call(t.Context(), d.undo, account+"/status", []byte(`{"status":"active"}`))
				} else {
					_, _ = client.call(t.Context(), d.undo, account+"/plastic", []byte(`{"plastic_enabled":true}`))
				}
				if state := srv.Account(from); state.Status != "lost_or_stolen" || state.PlasticEnabled {
					names = append(names, d.name)
				}
				return
			}
			d.arm(srv, network)
			outcome := "rejected"
			for n := 1; outcome == "rejected" && n < 4; n++ { // it is paid some other way
				body := fmt.Appendf(nil, `{"request_id":"pay-%d","amount":25.50,"source_reference":"s","destination_reference":"d",`+
					`"destination_account_id":%q,"transaction_type":%d}`, n, to, map[bool]int{true: 2950}[d.load])
				outcome = ""
				for tries := 0; outcome != "applied" && outcome != "rejected" && tries < 100 && (tries == 0 || !d.load); tries++ {
					outcome, _ = client.call(t.Context(), "Accounts.Transfer", account+"/transfer", body)
					time.Sleep(d.pause + time.Second)
				}
			}
			network.running.Wait()
			time.Sleep(time.Hour)
			if srv.Balance(from) != "74.50" {
				names = append(names, d.name)
			}
		})
	}
	return names
}

// A client that has only docs/safety.json pays nothing twice and undoes no newer change. Without one of its parts it does.
func TestSafetyFileFollowedLiterally(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T) *safetyFile {
		t.Helper()
		file := readSafety(t)
		file.Settings["never_repeat_loads"] = 1.0
		return file
	}
	require.Empty(t, harmfulScenes(t, read(t)))
	for name, tc := range map[string]struct {
		without func(f *safetyFile)
		harm    []string
	}{
		"the wait": {
			func(f *safetyFile) { f.Next["repeat"]["repeat_from"] = nil },
			[]string{"502 but carried out after 1s", "no response in time", "frozen for 46s", "network away for 20s, 1/2"},
		},
		"the responses": {
			func(f *safetyFile) {
				f.Next["repeat"]["repeat_from"] = nil
				f.Next["repeat"]["wait"] = []any{"+", "attempt_timeout", "in_flight_wait"}
			},
			[]string{"frozen for 3m0s", "network away for 46s, 1/8"},
		},
		"the time of retransmissions": {
			func(f *safetyFile) { f.Next["repeat"]["gone"] = "first_sign" },
			[]string{"network away for 46s, 1/8", "network away for 46s, 1/4"},
		},
		"the media type": {func(f *safetyFile) { f.Ask.Counts.MediaTypes = nil }, []string{"gateway responds for 3m0s"}},
		"the Age":        {func(f *safetyFile) { f.Ask.Counts.Without = nil }, []string{"cache responds for 3m0s"}},
		"the proof of a refusal": {
			func(f *safetyFile) { f.Resolves = []condition{{}} },
			[]string{"paid, the repeat refused by another code", "paid, the repeat refused by 404", "paid, the repeat refused by a gateway"},
		},
		"the setting": {func(f *safetyFile) { f.Settings["never_repeat_loads"] = 0.0 }, []string{"a load"}},
		"the age":     {func(f *safetyFile) { f.Settings["request_id_age"] = 1e9 }, []string{"31 days later"}},
		"the exceptions": {
			func(f *safetyFile) {
				for i := range f.Operations {
					if o := &f.Operations[i]; len(o.When) > 0 {
						o.Safety, o.When = o.When[0].Safety, nil
					}
				}
			},
			[]string{"block after Accounts.SetStatus", "block after Accounts.SetPlasticEnabled"},
		},
	} {
		t.Run("without "+name, func(t *testing.T) {
			t.Parallel()
			file := read(t)
			tc.without(file)
			got := harmfulScenes(t, file)
			t.Log(len(got), got)
			require.Subset(t, got, tc.harm)
		})
	}
}
