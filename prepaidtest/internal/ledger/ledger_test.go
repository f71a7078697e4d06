package ledger

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// books is a ledger with company 42 and one account, and the items it announces.
func someBooks(t *testing.T) (*Ledger, *Account, *[]Item) {
	t.Helper()
	announced := new([]Item)
	books := New(Options{IDs: ids.New(nil), NoCategory: "0000", Permitted: []int64{42}, Announce: func(_ Locked, _ *Account, booked Item) {
		*announced = append(*announced, booked)
	}})
	l := books.Lock()
	defer l.Unlock()
	a := l.NewAccount(l.PutCompany(CompanyData{ID: 42, ClientID: "acme"}), time.Now())
	a.Status, a.Key = "active", "k"
	l.Add(a)
	return books, a, announced
}

func TestABalanceIsTheSumOfItsHistory(t *testing.T) {
	t.Parallel()
	books, a, announced := someBooks(t)
	l := books.Lock()
	defer l.Unlock()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	first, ok := l.Post(a, Entry{Type: CodeLoad, Amount: wire.Whole(100), Fee: wire.Whole(1)}, at)
	require.True(t, ok)
	require.Equal(t, "0000", first.Merchant.MerchantCategoryCode)
	second, ok := l.Book(a, Entry{Type: CodePurchase, Amount: wire.Whole(-40), ParentID: first.ID}, at.Add(-time.Hour))
	require.True(t, ok)
	require.Equal(t, at, second.OccurredAt, "time never runs back within an account")
	require.Equal(t, "59.00", a.Balance.String())
	require.Equal(t, a.Balance, second.RunningBalance)
	require.Len(t, *announced, 1, "Book announces nothing")
	require.True(t, a.Room(wire.Whole(-59)))
	require.False(t, a.Room(wire.Whole(-60)))

	most, err := wire.ParseMoney("9999999999999999000")
	require.NoError(t, err)
	_, ok = l.PostAll(a, at, Entry{Amount: wire.Whole(-1)}, Entry{Amount: most}, Entry{Amount: most})
	require.False(t, ok)
	require.Len(t, a.Items, 2, "all or nothing")
	booked, ok := l.PostAll(a, at, Entry{Amount: wire.Whole(-1)}, Entry{Amount: wire.Whole(1)})
	require.True(t, ok)
	require.Len(t, booked, 2)
}

func TestAccountsAreFound(t *testing.T) {
	t.Parallel()
	books, a, _ := someBooks(t)
	changes := books.Changes()
	v := books.RLock()
	require.Same(t, a, v.Account(a.ID))
	require.Nil(t, v.Account("other"))
	require.Equal(t, []*Account{a}, v.Keyed(Key{ClientID: "acme", Key: "k"}))
	require.Equal(t, "reloadable", v.Company(42).ProductType)
	require.True(t, v.Permitted(42))
	require.False(t, v.Permitted(7), "does not exist")
	require.False(t, v.MayAccess(7))
	v.RUnlock()
	require.Equal(t, changes, books.Changes(), "to look changes nothing")

	l := books.Lock()
	defer l.Unlock()
	l.PutCompany(CompanyData{ID: 42, ClientID: "renamed"})
	require.Empty(t, l.Keyed(Key{ClientID: "acme", Key: "k"}))
	require.Equal(t, []*Account{a}, l.Keyed(Key{ClientID: "renamed", Key: "k"}))
	l.Reindex(a, "")
	require.Empty(t, l.Keyed(Key{ClientID: "renamed", Key: "k"}))
	require.Len(t, l.Companies(), 1)
	require.Greater(t, books.Changes(), changes)
}

func TestWhatIsSavedIsRestored(t *testing.T) {
	t.Parallel()
	books, a, _ := someBooks(t)
	l := books.Lock()
	booked, _ := l.Post(a, Entry{Type: CodeLoad, Amount: wire.Whole(5), Merchant: Merchant{MerchantCategoryCode: "5411"}, Reference: "r"}, time.Now().UTC().Round(0))
	text, err := json.Marshal(l.Save())
	l.Unlock()
	require.NoError(t, err)
	var saved []SavedAccount
	require.NoError(t, json.Unmarshal(text, &saved))

	next := New(Options{IDs: ids.New(nil)})
	l = next.Lock()
	defer l.Unlock()
	require.ErrorContains(t, l.Restore(saved, booked.ID), "accounts[0] has no company")
	l.PutCompany(CompanyData{ID: 42, ClientID: "acme"})
	require.ErrorContains(t, l.Restore(saved, booked.ID-1), "a number not given out yet")
	require.NoError(t, l.Restore(saved, booked.ID))
	require.Equal(t, []Item{booked}, l.Account(a.ID).Items)
	require.Equal(t, a.Balance, l.Account(a.ID).Balance)
}

func TestMoneyComesInUnlessTheAccountIsOver(t *testing.T) {
	t.Parallel()
	var receiving []string
	for _, status := range AccountStatuses() {
		if (&Account{AccountData: AccountData{Status: status}}).Receives() {
			receiving = append(receiving, status)
		}
	}
	require.Equal(t, []string{"active", "pre_active", "inactive", "suspected_fraud", "inactive_pin_tries_exceeded", "vendor_inactive"}, receiving)
}
