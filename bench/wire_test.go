package main

import (
	"encoding/json"
	"testing"

	"github.com/cardprograms/prepaid"
)

// Both sides must be able to read all measured bodies, with equal results.
func TestBothSidesReadTheSame(t *testing.T) {
	var accounts []baselineAccount
	if err := json.Unmarshal([]byte(list(pageItems, accountBody)), &accounts); err != nil {
		t.Fatal(err)
	}
	client, err := newClient(base, newMemory(list(pageItems, accountBody), pageItems))
	if err != nil {
		t.Fatal(err)
	}
	page, err := client.Accounts.SearchCompanyPage(t.Context(), 40000, prepaid.SearchCompanyParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != pageItems || len(accounts) != pageItems {
		t.Fatalf("%d and %d accounts", len(page.Items), len(accounts))
	}
	for i, account := range page.Items {
		baseline := accounts[i]
		if string(account.ID) != baseline.ID || account.Balance.String() != baseline.Balance.String() ||
			account.Cardholder.EmailAddress != baseline.Personal.EmailAddress || !account.PlasticExpiry.Equal(baseline.PlasticExpiry) {
			t.Fatalf("account %d differs", i)
		}
	}
	if size := len(list(pageItems, accountBody)); size < 85_000 || size > 97_000 {
		t.Fatalf("a page of accounts has %d bytes", size)
	}
}
