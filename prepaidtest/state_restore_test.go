package prepaidtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// No document makes a server that would fail later.
func TestWithState_RefusesByPlace(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, DeliveryRetries: []time.Duration{time.Hour}})
	id := c.AddAccount(SeedAccount{Balance: "5"})
	c.addHook(hookText(t, r.URL, nil))
	c.AddReportCSV("fixed", "a\n")
	require.Equal(t, 200, c.get("reporting/templates/fixed?include_column_headers=true").status)
	require.Equal(t, 200, c.get("reporting/templates/"+DailySettlement+"?include_column_headers=true").status)
	c.post("pin/initiate", `{"device_id":"d","ip_address":"i","communication_method":"sms","eaid":"`+id+`"}`).ok()
	c.withKeyPair()
	c.post("accounts/"+id+"/dip", dip(t, nil)).ok()
	simulated := body(t, `{"transaction_type":"Purchase","amount":4,"acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5812"}`,
		map[string]any{"account_id": id})
	c.post("simulation/transact", simulated).ok()
	c.post("simulation/clear", simulated).ok()
	r.respond(503)
	c.Adjust(id, "1")
	c.quiet()
	text := c.text()

	for rule, change := range map[string]func(d map[string]any){
		"companies[1] is there twice": func(d map[string]any) { d["companies"] = append(list(d, "companies"), list(d, "companies")[0]) },
		"accounts[1] has no account_id of its own": func(d map[string]any) {
			d["accounts"] = append(list(d, "accounts"), list(d, "accounts")[0])
		},
		"accounts[0] has no company":               func(d map[string]any) { first(d, "accounts")["company_id"] = 7 },
		"accounts[0] has a status":                 func(d map[string]any) { first(d, "accounts")["status"] = "hunter2" },
		"accounts[0] has a card_number":            func(d map[string]any) { first(d, "accounts")["card_number"] = "1" },
		"accounts[0] has transactions that do not": func(d map[string]any) { first(d, "accounts")["balance"] = 6.5 },
		"or a number not given out yet":            func(d map[string]any) { d["ids"].(map[string]any)["transaction"] = 1 },
		"ids.source":                               func(d map[string]any) { d["ids"].(map[string]any)["source"] = "aHVudGVyMg==" },
		"authorisations[0] has an unknown state":   func(d map[string]any) { first(d, "authorisations")["state"] = "hunter2" },
		"templates[0] has a csv":                   func(d map[string]any) { first(d, "templates")["csv"] = "\"" },
		"has item_counts that":                     itemCounts(99),
		"has item_counts that the":                 itemCounts(-1),
		"has item_counts that the accounts":        itemCounts(1, 0),
		"dip_used[0] must be 32 bytes":             func(d map[string]any) { d["dip_used"] = []string{"hunter2"} },
		"pin_changes[0] has no account":            func(d map[string]any) { first(d, "pin_changes")["account_id"] = "hunter2" },
		"pin_identity must be":                     func(d map[string]any) { d["pin_identity"].(map[string]any)["private_key"] = "aHVudGVyMg==" },
		"hooks[1] is there twice":                  func(d map[string]any) { d["hooks"] = append(list(d, "hooks"), list(d, "hooks")[0]) },
		"tasks[0] has no account":                  func(d map[string]any) { waitingTask(d, "clear")["input"] = nil },
		"has no hook of the document or no":        func(d map[string]any) { waitingTask(d, "send")["message"] = nil },
		"has a message whose body is not":          func(d map[string]any) { waitingTask(d, "send")["message"].(map[string]any)["body"] = "hunter2" },
		"tasks[0] is of an unknown kind":           func(d map[string]any) { waitingTask(d, "clear")["kind"] = "hunter2" },
		"transfers has a request_id twice":         func(d map[string]any) { d["transfers"] = []any{map[string]any{"response": "1"}, map[string]any{}} },
		"the state's member tokens has":            func(d map[string]any) { d["tokens"] = []any{"hunter2"} },
		"the state has an unknown member or":       func(d map[string]any) { first(d, "accounts")["plastic_expiry"] = "hunter2" },
		"the state's version must be 2":            func(d map[string]any) { d["version"] = 1 },
	} {
		d := make(map[string]any)
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&d))
		change(d)
		changed, err := json.Marshal(d)
		require.NoError(t, err)
		s, err := Start(Options{State: bytes.NewReader(changed)})
		if err == nil {
			_ = s.Close()
		}
		require.ErrorContains(t, err, rule)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for _, part := range []string{"", "{", text[:len(text)/2]} {
		_, err := Start(Options{State: strings.NewReader(part)})
		require.ErrorContains(t, err, "prepaidtest: State: the state is not JSON, or not all of it")
	}
	unread := errors.New("unread")
	_, err := Start(Options{State: iotest.ErrReader(unread)})
	require.ErrorIs(t, err, unread)
}

func list(d map[string]any, name string) []any { return d[name].([]any) }

func first(d map[string]any, name string) map[string]any { return list(d, name)[0].(map[string]any) }

// itemCounts changes the counts of the built-in report.
func itemCounts(counts ...int) func(d map[string]any) {
	return func(d map[string]any) {
		for _, run := range list(d, "report_runs") {
			if run.(map[string]any)["item_counts"] != nil {
				run.(map[string]any)["item_counts"] = counts
			}
		}
	}
}

func waitingTask(d map[string]any, kind string) map[string]any {
	for _, waiting := range list(d, "tasks") {
		if waiting.(map[string]any)["kind"] == kind {
			return waiting.(map[string]any)
		}
	}
	return nil
}

func TestSave_WriteError(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	require.ErrorIs(t, NewServer(t, Options{}).Save(failingWriter{full}), full)
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// A saved state outlives the emulator that wrote it: a renamed member makes all existing state files unreadable. The
// document has each member of each list, except the key pair of PIN changes and the source of a seeded server.
func TestSave_FormStays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "state.json"))
	require.NoError(t, err)
	s, err := newServer(t, Options{FrozenClock: true, State: bytes.NewReader(text)}) // sends nothing: it does not listen
	require.NoError(t, err)
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	require.JSONEq(t, string(text), saved.String())
}

// A state saved during activity is consistent: each server that begins from it checks every history, and no
// movement lacks its response.
func TestSave_WhileRequestsComeIn(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	options := Options{RateLimit: -1, WebhookRoots: r.pool(), SimulationDelay: time.Millisecond, DeliveryRetries: []time.Duration{time.Millisecond}}
	c := start(t, options)
	c.AddAccount(SeedAccount{ID: "from", Balance: "1000"})
	c.AddAccount(SeedAccount{ID: "to"})
	c.addHook(hookText(t, r.URL, nil))
	var work sync.WaitGroup
	stop, busy := make(chan struct{}), make(chan struct{})
	for worker := range 4 {
		work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case busy <- struct{}{}:
				default:
				}
				c.post("accounts/from/transfer", strings.Replace(transferText, "r1", fmt.Sprintf("%d-%d", worker, n), 1)).ok()
				c.post("simulation/clear", body(t, `{"transaction_type":"PosCredit","amount":1,"acquirer_id":"1","merchant_id":"M",
					"terminal_id":"T","mcc":"5812"}`, map[string]any{"account_id": "from"})).ok()
			}
		})
	}
	for range 5 {
		for range 8 { // requests since the last state
			<-busy
		}
		var text bytes.Buffer
		require.NoError(t, c.Save(&text))
		document := bytes.Clone(text.Bytes())
		options.State = &text
		next := started(t, options)
		var saved struct{ Transfers, Movements []any }
		require.NoError(t, json.Unmarshal(document, &saved))
		responses := len(saved.Transfers)
		require.Len(t, saved.Movements, responses)
		booked := 0
		for _, item := range next.Transactions("to") {
			require.Equal(t, "1.25", item.Amount)
			booked++
		}
		require.Equal(t, responses, booked)
		require.NoError(t, next.Close())
	}
	close(stop)
	work.Wait()
}

// An expired run can still be running, and then a second one is refused.
func TestSave_LongRun(t *testing.T) {
	t.Parallel()
	options := Options{FrozenClock: true, ReportDelay: 5 * time.Hour, TokenLifetime: 24 * time.Hour}
	c := start(t, options)
	c.AddReportCSV("fixed", "a\n1\n")
	run := func(name string) reply { return c.get("reporting/templates/" + name + "?include_column_headers=true") }
	old := string(run("fixed").ok().body)
	c.Advance(4 * time.Hour)
	run(DailySettlement).ok()
	c = c.restart(options)
	require.Contains(t, c.text(), `"forgotten":true`)
	run("fixed").refused(409, "duplicate_request")
	c.get("reporting/templates/fixed/reports/"+old).refused(400, "invalid_request")
	c.Advance(time.Hour)
	run("fixed").ok()
}
