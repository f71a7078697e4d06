package internal_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
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
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42, ClientID: "acme"}), time.Now())
	a.Key = "k"
	l.Add(a)
	require.Equal(t, "reloadable", l.Company(42).ProductType)
	l.PutCompany(ledger.CompanyData{ID: 42, ClientID: "renamed"})
	require.Len(t, l.Companies(), 1)
	require.Empty(t, l.Keyed(ledger.Key{ClientID: "acme", Key: "k"}))
	require.Equal(t, []*ledger.Account{a}, l.Keyed(ledger.Key{ClientID: "renamed", Key: "k"}))

	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	l.Book(a, ledger.Entry{Type: ledger.CodeLoad, Amount: wire.Whole(100)}, at)
	second, ok := l.Book(a, ledger.Entry{Type: ledger.CodePurchase, Amount: wire.Whole(-40)}, at.Add(-time.Hour))
	require.True(t, ok)
	require.Equal(t, at, second.OccurredAt, "time never runs back within an account")
}

func TestPatternsSayWhatIsChecked(t *testing.T) {
	t.Parallel()
	for _, form := range []wire.Form{ledger.SequenceNumber(), ledger.MonthYear(), ledger.TokenReference()} {
		held := 0
		for _, text := range []string{
			"", "000", "099", "100", "0990", "01a", "0100", "1299", "1300", "0000", "129", "12999", "\n000", "000\n",
			strings.Repeat("x", 47), strings.Repeat("x", 48), strings.Repeat("é", 48), strings.Repeat("\n", 48), strings.Repeat("x", 49),
		} {
			holds := form.Holds(text)
			require.Equal(t, holds, regexp.MustCompile(form.Pattern).MatchString(text), "%s: %q", form.Rule, text)
			if holds {
				held++
			}
		}
		require.GreaterOrEqual(t, held, 2)
	}
}
