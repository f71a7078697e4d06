package payouts // want package:"1 without a deadline"

import (
	"net/http"

	"github.com/cardprograms/prepaid"
)

func Handler(client *prepaid.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := client.Accounts.Transfer(r.Context(), "float", prepaid.TransferParams{})
		_ = err
	}
}
