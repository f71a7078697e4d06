package prepaidtest_test

import (
	"testing"
	"testing/synctest"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestPaysOnceWhenTheResponseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the pause before the repeat takes no real time
		srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
		to := srv.AddAccount(prepaidtest.SeedAccount{})
		srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())

		key := prepaid.NewRequestID()
		_, err := srv.Client().Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
			RequestID: key, Amount: prepaid.Cents(2550), DestinationAccountID: to,
			SourceReference: "invoice 7", DestinationReference: "invoice 7",
		})
		if err != nil || srv.Movements(key) != 1 || srv.Balance(from) != "74.50" {
			t.Fatal(err, srv.Requests())
		}
	})
}
