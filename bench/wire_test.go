package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cardprograms/prepaid"
)

// Both sides must be able to read all measured bodies, with equal results.
func TestBothSidesReadTheSame(t *testing.T) {
	accounts := reflect.New(reflect.SliceOf(baselineOf[prepaid.Account]()))
	if err := json.Unmarshal([]byte(list(pageItems, accountBody)), accounts.Interface()); err != nil {
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
	ours, err := json.Marshal(page.Items)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := json.Marshal(accounts.Interface())
	if err != nil || len(page.Items) != pageItems || !bytes.Equal(ours, theirs) {
		t.Fatalf("%d accounts differ: %v", len(page.Items), err)
	}
	if size := len(list(pageItems, accountBody)); size < 85_000 || size > 97_000 {
		t.Fatalf("a page of accounts has %d bytes", size)
	}
}
