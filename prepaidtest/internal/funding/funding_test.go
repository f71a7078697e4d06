package funding

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange/exchangetest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const place = `"account_id":"a","merchant_name_location":"m","originating_transaction":7,"currency":"036","card_acceptor_id":"c",` +
	`"correlation_id":"x","merchant_category":"5411","terminal_id":"t","acquirer_id":"1"`

// A refunded amount is not reversed, and a reversed one is not refunded, also after a restart.
func TestNothingIsGivenBackTwice(t *testing.T) {
	t.Parallel()
	now := clock.New(time.Time{}, true)
	books := ledger.New(ledger.Options{IDs: ids.New(nil), Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	l := books.Lock()
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42}), now.Now())
	a.ID, a.Status = "a", "active"
	l.Add(a)
	l.Post(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(100)}, now.Now())
	l.Unlock()
	s := New(books, now)
	send := func(handle func(*exchange.Call) exchange.Response, body string) map[string]any {
		response := handle(exchangetest.Call(t, http.MethodPost, "/funding", body))
		require.Equal(t, http.StatusOK, response.Status, string(response.Body))
		return exchangetest.Object(t, response)
	}
	made := send(s.Redeem, `{"amount":40,"funding_exception":"no_exception","clearing_adjustment":false,`+place+`}`)
	require.Equal(t, "approved", made["outcome"])
	parent := fmt.Sprintf(`"parent_transaction_id":%.0f`, made["transaction_id"])
	require.Equal(t, "declined", send(s.Redeem, `{"amount":60.01,"funding_exception":"no_exception","clearing_adjustment":false,`+place+`}`)["outcome"])
	require.Equal(t, "approved", send(s.Refund, `{"amount":15,`+parent+`,`+place+`}`)["outcome"])
	require.Equal(t, "declined", send(s.Refund, `{"amount":25.01,`+parent+`,`+place+`}`)["outcome"])

	l = books.Lock()
	saved := s.Save(l.View)
	s = New(books, now)
	s.Restore(l, saved)
	require.Equal(t, saved, s.Save(l.View))
	l.Unlock()

	reversal := `{"account_id":"a","originating_transaction":7,"correlation_id":"x",` + parent + `,"clearing_adjustment":false}`
	require.Equal(t, "approved", send(s.ReverseRedemption, reversal)["outcome"])
	require.Equal(t, "declined", send(s.ReverseRedemption, reversal)["outcome"])
	require.Equal(t, "declined", send(s.Refund, `{"amount":1,`+parent+`,`+place+`}`)["outcome"])
	require.Equal(t, "100.00", a.Balance.String())
}
