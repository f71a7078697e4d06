package prepaidtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
	stop := make(chan struct{})
	for worker := range 4 {
		work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c.post("accounts/from/transfer", strings.Replace(transferText, "r1", fmt.Sprintf("%d-%d", worker, n), 1)).ok()
				c.post("simulation/clear", body(t, `{"transaction_type":"PosCredit","amount":1,"acquirer_id":"1","merchant_id":"M",
					"terminal_id":"T","mcc":"5812"}`, map[string]any{"account_id": "from"})).ok()
			}
		})
	}
	for range 5 {
		time.Sleep(5 * time.Millisecond)
		var text bytes.Buffer
		require.NoError(t, c.Save(&text))
		document := bytes.Clone(text.Bytes())
		options.State = &text
		next := started(t, options)
		var saved struct{ Transfers, Movements []any }
		require.NoError(t, json.Unmarshal(document, &saved))
		answers := len(saved.Transfers)
		require.Len(t, saved.Movements, answers)
		booked := 0
		for _, item := range next.Transactions("to") {
			require.Equal(t, "1.25", item.Amount)
			booked++
		}
		require.Equal(t, answers, booked)
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
