package faults

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

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

// scenes are the situations. Their functions run on stages.
//
//waits:bubble
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
	for _, takes := range []time.Duration{time.Second, 9 * time.Second, 29 * time.Second, 39 * time.Second} {
		add(fmt.Sprint("cut off but carried out after ", takes), inject(prepaidtest.DropBeforeCommit().CommitAfter(takes)))
		for _, status := range []int{502, 503, 504} {
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
	add("program frozen for 1m0s", away(time.Minute, func(age time.Duration) time.Duration { return age * 3 / 4 }, func(*http.Request) (*http.Response, error) {
		time.Sleep(time.Minute) // its kernel goes on sending
		return nil, harness.ErrCut
	}))
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

// stage is an emulator with two accounts, and a link to it.
type stage struct {
	*prepaidtest.Server
	config   prepaid.Config // of a client that is not on the link
	from, to prepaid.AccountID
	network  *link
	tokens   *prepaid.Client // not on the link
}

// token returns a token, another one than rejected.
func (s *stage) token(ctx context.Context, rejected string) (string, error) {
	if rejected != "" {
		_, _ = s.tokens.Accounts.Summary(ctx, s.from) // its token has lapsed, too
	}
	token, err := s.tokens.Token(ctx)
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// payer is a client on a stage: pay makes the n-th payment, set makes the change of an operation.
type payer struct {
	pay func(n int, load bool) (outcome string)
	set func(operation string)
}

// harmfulScenes returns the scenes in which a client pays twice, or undoes a newer change. Without names it plays all.
func harmfulScenes(t *testing.T, newPayer func(*testing.T, *stage) payer, only ...string) (harmful []string) {
	t.Helper()
	for _, d := range scenes() {
		if only != nil && !slices.Contains(only, d.name) {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, UncachedLoads: d.load})
			s := &stage{Server: srv, config: srv.Config(), from: srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), to: srv.AddAccount(prepaidtest.SeedAccount{})}
			s.network, s.tokens = &link{RoundTripper: s.config.Transport}, harness.NewClient(t, s.config)
			client := newPayer(t, s)
			if d.undo != "" {
				s.network.after = func(r *http.Request, _ *http.Response) bool {
					s.network.after = nil
					srv.SetStatus(s.from, "lost_or_stolen")
					require.NoError(t, s.tokens.Accounts.SetPlasticEnabled(t.Context(), s.from, prepaid.SetPlasticEnabledParams{}))
					return r.Method == http.MethodPut
				}
				client.set(d.undo)
				if state := srv.Account(s.from); state.Status != "lost_or_stolen" || state.PlasticEnabled {
					harmful = append(harmful, d.name)
				}
				return
			}
			d.arm(srv, s.network)
			outcome := "rejected"
			for n := 1; outcome == "rejected" && n < 4; n++ { // it is paid some other way
				outcome = ""
				for tries := 0; outcome != "applied" && outcome != "rejected" && tries < 100 && (tries == 0 || !d.load); tries++ {
					outcome = client.pay(n, d.load)
					time.Sleep(d.pause + time.Second)
				}
			}
			s.network.running.Wait()
			time.Sleep(time.Hour)
			if srv.Balance(s.from) != "74.50" {
				harmful = append(harmful, d.name)
			}
		})
	}
	return harmful
}

// filePayer is a client that has only the file.
func filePayer(file *safetyFile) func(t *testing.T, s *stage) payer {
	return func(t *testing.T, s *stage) payer {
		t.Helper()
		client := &fileClient{
			safetyFile: *file, base: strings.TrimSuffix(s.URL, "/3.0/"), unknown: map[string]time.Time{},
			token: func(rejected string) string {
				token, err := s.token(t.Context(), rejected)
				require.NoError(t, err)
				return token
			},
			transport: harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{}) // the link is up as far as the client sees
				return s.network.RoundTrip(r)
			}),
		}
		account := "/3.0/accounts/" + string(s.from)
		return payer{
			pay: func(n int, load bool) string {
				body := fmt.Appendf(nil, `{"request_id":"pay-%d","amount":25.50,"source_reference":"s","destination_reference":"d",`+
					`"destination_account_id":%q,"transaction_type":%d}`, n, s.to, map[bool]int{true: 2950}[load])
				outcome, _ := client.call(t.Context(), "Accounts.Transfer", account+"/transfer", body)
				return outcome
			},
			set: func(operation string) {
				if operation == "Accounts.SetStatus" {
					_, _ = client.call(t.Context(), operation, account+"/status", []byte(`{"status":"active"}`))
				} else {
					_, _ = client.call(t.Context(), operation, account+"/plastic", []byte(`{"plastic_enabled":true}`))
				}
			},
		}
	}
}

// clientPayer is a client of package prepaid. With restarts, each call is that of another process, which has the LastSent of the one
// before.
func clientPayer(attempts int, restarts bool) func(t *testing.T, s *stage) payer {
	return func(t *testing.T, s *stage) payer {
		t.Helper()
		config := s.config
		config.ClientID, config.ClientSecret = "", prepaid.Secret{}
		config.Transport, config.Retry.MaxAttempts, config.NeverRepeatLoads = s.network, attempts, true
		config.Token = func(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
			if rejected == nil {
				rejected = &oauth2.Token{}
			}
			token, err := s.token(ctx, rejected.AccessToken)
			return &oauth2.Token{AccessToken: token}, err
		}
		newClient := func() *prepaid.Client { return derive(t, harness.NewClient(t, config), prepaid.Overrides{}) } // it inherits the settings
		client, payments := newClient(), map[int]prepaid.TransferParams{}
		return payer{
			pay: func(n int, load bool) string {
				params, again := payments[n]
				if !again {
					params = harness.TransferTo(s.to, "25.50")
				}
				if params.Type = prepaid.TransferTypeCardToCard; load {
					params.Type = prepaid.TransferTypeLoad
				}
				_, err := client.Accounts.Transfer(t.Context(), s.from, params)
				if restarts && prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
					client, params.LastSent = newClient(), harness.CallError(t, err).LastSent
				}
				payments[n] = params
				return prepaid.OutcomeOf(err).String()
			},
			set: func(operation string) {
				if operation == "Accounts.SetStatus" {
					_ = client.Accounts.SetStatus(t.Context(), s.from, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive})
				} else {
					_ = client.Accounts.SetPlasticEnabled(t.Context(), s.from, prepaid.SetPlasticEnabledParams{Enabled: true})
				}
			},
		}
	}
}

// In no scene does the client pay twice or undo a newer change: neither by its own repeat, nor by that of the next call, nor by that of
// another process.
func TestARepeatNeverOvertakesTheFirst(t *testing.T) {
	t.Parallel()
	for name, newPayer := range map[string]func(*testing.T, *stage) payer{
		"its own repeat": clientPayer(4, false), "the next call": clientPayer(1, false), "another process": clientPayer(1, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var known []string
			if name == "another process" { // LastSent is not enough: package journal adds the first time, see TestUnknownAgeOfAnotherProcess
				known = []string{"program frozen for 1m0s"}
			}
			require.Equal(t, known, harmfulScenes(t, newPayer))
		})
	}
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
	require.Empty(t, harmfulScenes(t, filePayer(read(t))))
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
			require.ElementsMatch(t, tc.harm, harmfulScenes(t, filePayer(file), tc.harm...))
		})
	}
}
