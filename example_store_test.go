package prepaid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// payment is a row in a store of your own. It is committed before the first call.
type payment struct {
	Source   prepaid.AccountID
	Params   prepaid.TransferParams // its JSON does not have LastSent, so that has a column
	State    string                 // "open", "sending", "unknown", "paid", "refused" or "review"
	LastSent time.Time              // while the outcome is unknown
}

// database stands for yours: each save is a commit.
type database map[prepaid.RequestID][]byte

func (d database) load(id prepaid.RequestID) (row payment, err error) {
	return row, json.Unmarshal(d[id], &row)
}

func (d database) save(row payment) (err error) {
	d[row.Params.RequestID], err = json.Marshal(row)
	return err
}

// takeOver is for the start of the program, when no other process can send any more, as after taking a lock. What a dead
// process was sending may have moved the money until now.
func (d database) takeOver() error {
	for id := range d {
		row, err := d.load(id)
		if err == nil && row.State == "sending" {
			row.State, row.LastSent = "unknown", time.Now()
			err = d.save(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pay sends a payment that is open, unknown or refused. Only one call at a time works on a row.
func (d database) pay(ctx context.Context, accounts *prepaid.AccountsService, id prepaid.RequestID) error {
	row, err := d.load(id)
	if err != nil || row.State == "paid" || row.State == "review" {
		return err
	}
	params := row.Params
	params.LastSent = row.LastSent // the client then waits, and takes no refusal for proof that is none
	row.State = "sending"
	if err := d.save(row); err != nil {
		return err // nothing was sent
	}
	_, err = accounts.Transfer(ctx, row.Source, params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		row.State, row.LastSent = "paid", time.Time{}
	case prepaid.OutcomeRejected: // nothing moved, now or earlier
		row.State, row.LastSent = "refused", time.Time{}
	case prepaid.OutcomeNotProcessed: // the same, and the payment is not at fault
		row.State, row.LastSent = "open", time.Time{}
	case prepaid.OutcomeUnknown:
		row.State = "unknown"
		if call, ok := errors.AsType[*prepaid.CallError](err); ok {
			row.LastSent = call.LastSent
		}
	}
	if errors.Is(err, prepaid.ErrRequestIDReused) || errors.Is(err, prepaid.ErrRequestIDExpired) {
		row.State = "review" // a person decides; never pay some other way because of it
	}
	return errors.Join(err, d.save(row))
}

// A payment in a store of your own, which survives restarts. The response to the first call is lost after the money moved. The
// second process receives a 404, which proves nothing about that: with LastSent, the client says so.
func ExampleTransferParams() {
	srv := emulator()
	defer srv.Close()
	from, to := seed(srv, "100.00"), seed(srv, "0")
	rows := database{}
	err := rows.save(payment{State: "open", Source: from, Params: prepaid.TransferParams{
		RequestID: "invoice-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fault := range []prepaidtest.Fault{prepaidtest.CommitThenDrop(), prepaidtest.Respond(404, "not_found"), prepaidtest.Delay(0)} {
		srv.Inject("POST /accounts/{id}/transfer", fault)
		config := srv.Config()
		config.AttemptTimeout, config.Retry.MaxAttempts = time.Second, 1
		client, err := prepaid.NewClient(config) // a new process
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = rows.takeOver()
		err = rows.pay(context.Background(), client.Accounts, "invoice-7")
		row, _ := rows.load("invoice-7")
		fmt.Println(row.State, errors.Is(err, prepaid.ErrNotFound), srv.Balance(from))
		client.Close()
	}
	// Output:
	// unknown false 74.50
	// unknown true 74.50
	// paid false 74.50
}
