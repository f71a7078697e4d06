package internal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

func TestALedgerOfOneAccount(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{IDs: ids.New(nil)})
	changes := books.Changes()
	v := books.RLock()
	require.Empty(t, v.Companies())
	v.RUnlock()
	require.Equal(t, changes, books.Changes(), "to look changes nothing")

	l := books.Lock()
	defer l.Unlock()
	require.Greater(t, books.Changes(), changes)
	a := l.NewAccount(l.PutCompany(state.Company{ID: 42, ClientID: "acme"}), time.Now())
	a.Key = "k"
	l.Add(a)
	require.Equal(t, "reloadable", l.Company(42).ProductType)
	l.PutCompany(state.Company{ID: 42, ClientID: "renamed"})
	require.Len(t, l.Companies(), 1)
	require.Empty(t, l.Keyed(ledger.Key{ClientID: "acme", Key: "k"}))
	require.Equal(t, []*ledger.Account{a}, l.Keyed(ledger.Key{ClientID: "renamed", Key: "k"}))

	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	l.Book(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(100)}, at)
	second, ok := l.Book(a, ledger.Entry{Type: ledger.CodePurchase, Amount: wire.Whole(-40)}, at.Add(-time.Hour))
	require.True(t, ok)
	require.Equal(t, at, second.OccurredAt, "time never runs back within an account")
}
