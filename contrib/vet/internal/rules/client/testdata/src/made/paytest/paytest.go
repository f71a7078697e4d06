// Package paytest is for tests: a client for each is right.
package paytest

import (
	"testing"

	"github.com/cardprograms/prepaid"
)

func Pay(t *testing.T, config prepaid.Config, all []prepaid.TransferParams) {
	for _, params := range all {
		client, err := prepaid.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Accounts.Transfer(t.Context(), "a", params); err != nil {
			t.Error(err)
		}
	}
}
