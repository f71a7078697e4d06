package accounts

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange/exchangetest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

const creation = `{"company_id":42,"initial_load_amount":0x1f,"client_account_key":"k","registration":{"first_name":"A","last_name":"B",` +
	`"date_of_birth":"1990-05-01T00:00:00Z","primary_address":{"state":"NSW","country":"AU"}}}`

func someAccounts(t *testing.T) (*Accounts, *ledger.Ledger) {
	t.Helper()
	books := ledger.New(ledger.Options{IDs: ids.New(nil), Announce: func(ledger.Locked, *ledger.Account, ledger.Item) {}})
	l := books.Lock()
	defer l.Unlock()
	l.PutCompany(ledger.CompanyData{ID: 42, ClientID: "acme"})
	return New(books, clock.New(time.Time{}, true), ids.New(nil), Options{
		InitialStatus: "pre_active", WalletWithCertificates: "one", OtherWallets: []string{"two"},
	}), books
}

func TestAnAccountIsCreatedAndChanged(t *testing.T) {
	t.Parallel()
	s, books := someAccounts(t)
	require.Equal(t, http.StatusCreated, s.Create(exchangetest.Call(t, http.MethodPost, "/accounts", creation)).Status)
	v := books.RLock()
	a := v.Keyed(ledger.Key{ClientID: "acme", Key: "k"})[0]
	v.RUnlock()
	require.Equal(t, "31.00", a.Balance.String())
	require.Equal(t, "pre_active", a.Status)
	status := func(text string) int {
		return s.PutStatus(exchangetest.Call(t, http.MethodPut, "/accounts/{id}/status", `{"status":"`+text+`"}`, a.ID)).Status
	}
	require.Equal(t, http.StatusOK, status("active"))
	require.Equal(t, http.StatusBadRequest, status("unknown"))
	require.Equal(t, "active", a.Status)
	require.Equal(t, "active", exchangetest.Object(t, s.Status(exchangetest.Call(t, http.MethodGet, "/accounts/{id}/status", "", a.ID)))["status"])
	require.Equal(t, http.StatusNotFound, s.Status(exchangetest.Call(t, http.MethodGet, "/accounts/{id}/status", "", "nobody")).Status)

	l := books.Lock()
	defer l.Unlock()
	s.AddWalletToken(l, a, ledger.WalletToken{CurrentStatusCode: "suspended"})
	require.Equal(t, "suspended", a.WalletTokens[0].CurrentStatusCode)
	require.True(t, ledger.IsTokenReference(a.WalletTokens[0].TokenUniqueReference), "what is empty is filled in")
}

func TestBetweenIncludesBothSeconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	items := make([]ledger.Item, 4)
	for i := range items {
		items[i].OccurredAt = at.Add(time.Duration(i) * 600 * time.Millisecond) // seconds 5, 5, 6, 6
	}
	require.Len(t, between(items, time.Time{}, time.Time{}), 4)
	require.Len(t, between(items, at, at), 2)
	require.Len(t, between(items, at.Add(time.Second), time.Time{}), 2)
	require.Empty(t, between(items, at.Add(time.Second), at))
}

func TestAnEphemeralKeyIsUsedOnce(t *testing.T) {
	t.Parallel()
	_, books := someAccounts(t)
	l := books.Lock()
	a := l.NewAccount(l.Company(42), time.Now())
	l.Add(a)
	l.Unlock()
	const application, key = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	s := NewKeyExchange(books, ids.New(nil))
	s.Add(application, key)
	exchange := func(application, key string) (int, string) {
		response := s.Exchange(exchangetest.Call(t, http.MethodPost, "/accounts/{id}/dip", `{"application_id":"`+application+`","key_id":"`+key+
			`","ephemeral_key":"`+base64.StdEncoding.EncodeToString(make([]byte, 32))+`"}`, a.ID))
		return response.Status, response.Problem.Code
	}
	status, code := exchange(key, key)
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, "bad_application_id", code)
	_, code = exchange(application, application)
	require.Equal(t, "bad_key_id", code)
	status, _ = exchange(application, key)
	require.Equal(t, http.StatusOK, status)
	l = books.Lock()
	keys, used := s.Save(l.View)
	s = NewKeyExchange(books, ids.New(nil))
	require.NoError(t, s.Restore(l, keys, used))
	require.ErrorContains(t, s.Restore(l, nil, []string{"zz"}), "dip_used[0]")
	l.Unlock()
	_, code = exchange(application, key)
	require.Equal(t, "bad_ephemeral_key", code)
}
