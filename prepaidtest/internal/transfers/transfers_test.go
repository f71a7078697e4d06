package transfers

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
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const payment = `{"request_id":"r","amount":10,"source_reference":"s","destination_reference":"d","destination_account_id":"to","transaction_type":1}`

func someTransfers(t *testing.T, with Options) (*Transfers, *clock.Clock, *ledger.Ledger) {
	t.Helper()
	now := clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), true)
	books := ledger.New(ledger.Options{IDs: ids.New(nil), Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	l := books.Lock()
	defer l.Unlock()
	owner := l.PutCompany(ledger.CompanyData{ID: 42})
	for _, id := range []string{"from", "to"} {
		a := l.NewAccount(owner, now.Now())
		a.ID, a.Status = id, "active"
		l.Add(a)
	}
	l.Post(l.Account("from"), ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(100)}, now.Now())
	return New(books, now, ids.New(nil), with), now, books
}

func balance(books *ledger.Ledger, id string) string {
	v := books.RLock()
	defer v.RUnlock()
	return v.Account(id).Balance.String()
}

func TestARepeatGetsTheCachedResponse(t *testing.T) {
	t.Parallel()
	s, now, books := someTransfers(t, Options{})
	send := func(cached int64) exchange.Response {
		c := exchangetest.Call(t, http.MethodPost, "/accounts/{id}/transfer", payment, "from")
		c.Cached = cached
		return s.Transfer(c)
	}
	arrived := s.Cached()
	first := send(arrived)
	require.Equal(t, first.Body, send(s.Cached()).Body)
	require.Equal(t, "90.00", balance(books, "from"))

	send(arrived) // before the first is cached
	require.Equal(t, "80.00", balance(books, "from"))
	require.Equal(t, "20.00", balance(books, "to"))
	v := books.RLock()
	require.Equal(t, 2, s.Movements(v, "r"))
	require.Equal(t, []string{"r"}, s.PaidTwice(v))
	v.RUnlock()

	require.True(t, now.Advance(30*24*time.Hour))
	require.NotEqual(t, first.Body, send(s.Cached()).Body, "no longer cached")
}

func TestAFailedTransferIsNotCached(t *testing.T) {
	t.Parallel()
	for form, want := range map[EmptyID]any{AsString: "", AsNull: nil, AsZero: 0.0, AsAbsent: "absent"} {
		s, _, books := someTransfers(t, Options{Failed: form, EmptyDirectEntry: true})
		l := books.Lock()
		l.Account("to").Status = "closed"
		l.Unlock()
		failed := exchangetest.Object(t, s.Transfer(exchangetest.Call(t, http.MethodPost, "/accounts/{id}/transfer", payment, "from")))
		id, present := failed["transaction_id"]
		require.Equal(t, form != AsAbsent, present)
		if present {
			require.Equal(t, want, id)
		}
		require.Zero(t, s.Cached())
		require.Equal(t, "100.00", balance(books, "from"))
	}
	s, _, _ := someTransfers(t, Options{})
	require.Equal(t, http.StatusBadRequest, s.Transfer(exchangetest.Call(t, http.MethodPost, "/accounts/{id}/transfer", payment, "nobody")).Status)
}

func TestWhatIsSavedIsRestored(t *testing.T) {
	t.Parallel()
	s, now, books := someTransfers(t, Options{})
	first := s.Transfer(exchangetest.Call(t, http.MethodPost, "/accounts/{id}/transfer", payment, "from"))
	l := books.Lock()
	cached, movements := s.Save(l.View)
	next := New(books, now, ids.New(nil), Options{})
	require.NoError(t, next.Restore(l, cached, movements))
	require.ErrorContains(t, New(books, now, nil, Options{}).Restore(l, append(cached, cached...), nil), "request_id twice")
	l.Unlock()
	require.Equal(t, first.Body, next.Transfer(exchangetest.Call(t, http.MethodPost, "/accounts/{id}/transfer", payment, "from")).Body)
	require.Equal(t, "90.00", balance(books, "from"))
}
