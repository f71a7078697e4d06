package simulator

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange/exchangetest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const purchase = `"transaction_type":"Purchase","account_id":"a","amount":10,"acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5411"`

// A clearing takes effect after the delay, also if its task is saved and restored meanwhile.
func TestAClearingTakesEffectAfterTheDelay(t *testing.T) {
	t.Parallel()
	now := clock.New(time.Time{}, true)
	source := ids.New(nil)
	books := ledger.New(ledger.Options{IDs: source, Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	l := books.Lock()
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42}), now.Now())
	a.ID, a.Status = "a", "active"
	l.Add(a)
	l.Post(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(100)}, now.Now())
	l.Unlock()
	policies := policy.New(books)
	s := New(books, now, source, policies, Options{Delay: time.Minute, MatchedReversals: true})
	send := func(handle func(*exchange.Call) exchange.Response, body string) map[string]any {
		response := handle(exchangetest.Call(t, http.MethodPost, "/simulation", body))
		require.Equal(t, http.StatusOK, response.Status, string(response.Body))
		return exchangetest.Object(t, response)
	}
	made := send(s.Handle(Transact), `{`+purchase+`}`)
	require.Equal(t, true, made["success"])
	authorised := `{` + purchase + `,"authorization_id":"` + made["authorization_id"].(string) + `"}`
	require.Equal(t, "90.00", a.Balance.String())
	require.Equal(t, true, send(s.Handle(Clear), authorised)["success"])
	require.Len(t, a.Items, 2)

	l = books.Lock()
	require.Len(t, now.Waiting(), 1)
	kind, input := now.Waiting()[0].Job.(*Task).Save(l.View)
	next := New(books, now, source, policies, s.with)
	require.NoError(t, next.Restore(l, s.Save(l.View)))
	require.Equal(t, s.Save(l.View), next.Save(l.View))
	require.True(t, next.HasTask(kind))
	task, err := next.RestoreTask(l, kind, input)
	require.NoError(t, err)
	_, err = next.RestoreTask(l, kind, nil)
	require.Error(t, err)
	require.Error(t, next.Restore(l, []Authorisation{{State: "unknown"}}))
	l.Unlock()
	task.Do(now.Now())
	require.Len(t, a.Items, 4, "credited back, and cleared")
	require.Equal(t, "90.00", a.Balance.String())
}
