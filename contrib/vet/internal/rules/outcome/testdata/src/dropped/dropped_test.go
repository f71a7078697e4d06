package dropped

import (
	"testing"

	"github.com/cardprograms/prepaid"
)

func TestRefused(t *testing.T) {
	var client prepaid.Client
	client.Accounts.Transfer(t.Context(), "a", prepaid.TransferParams{})
}
