package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// row is a payment in a store of your own. Its order commits it, queued, with everything else that the order writes.
type row struct {
	Entry  journal.Entry
	Params prepaid.TransferParams // a real store seals them, with Entry.Seal, and opens them with Entry.Open
}

// database stands for yours: each save is a commit.
type database map[prepaid.RequestID][]byte

func (d database) load(id prepaid.RequestID) (r row, err error) {
	return r, json.Unmarshal(d[id], &r)
}

func (d database) save(r row) (err error) {
	d[r.Entry.RequestID], err = json.Marshal(r)
	return err
}

// pay sends a payment that is pending. Only one call at a time works on a row. takenOver is when this process took the lock: a
// dead one may have sent until then.
func (d database) pay(ctx context.Context, sender journal.Sender, id prepaid.RequestID, takenOver time.Time) error {
	r, err := d.load(id)
	if err != nil || !r.Entry.State.Pending() {
		return err
	}
	if err := r.Entry.NeedsPerson(time.Now()); err != nil {
		return err // sending it again settles nothing
	}
	run, err := r.Entry.Begin(time.Now(), takenOver)
	if err != nil {
		return err
	}
	r.Entry = run.Entry
	if err := d.save(r); err != nil {
		return err // nothing was sent
	}
	result, err := run.Send(ctx, sender, r.Params) // after an unknown outcome, the client waits
	r.Entry, err = run.End(time.Now(), result, err)
	return errors.Join(err, d.save(r))
}

// A payment in a store of your own, which survives restarts. The response to the first call is lost after the money moved. The
// second process receives a 404, which proves nothing about that, and is not taken for a refusal.
func ExampleRun() {
	srv, err := prepaidtest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	params := prepaid.TransferParams{
		RequestID: "invoice-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}
	rows := database{}
	entry, err := journal.NewEntry(prepaid.NewSecret("a key for digests"), from, params)
	if err == nil {
		err = rows.save(row{entry, params})
	}
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
		err = rows.pay(context.Background(), client.Accounts, "invoice-7", time.Now())
		r, _ := rows.load("invoice-7")
		fmt.Println(r.Entry.State, errors.Is(err, prepaid.ErrNotFound), srv.Balance(from))
		client.Close()
	}
	// Output:
	// unknown false 74.50
	// unknown true 74.50
	// done false 74.50
}

// An order arrives twice, the second time with another amount. A store compares it with what it has recorded under the request ID.
func ExampleNewEntry() {
	digests := prepaid.NewSecret("a key for digests")
	params := prepaid.TransferParams{
		RequestID: "invoice-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: "987",
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}
	recorded, err := journal.NewEntry(digests, "123", params)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, _ := journal.NewEntry(digests, "123", params)
	fmt.Println(recorded.State, recorded.Match(again))
	params.Amount = prepaid.MustAmount("35.50")
	again, _ = journal.NewEntry(digests, "123", params)
	fmt.Println(recorded.Match(again))
	// Output:
	// queued <nil>
	// journal: params changed under their request id: amount (recorded payment: queued)
}

// A store can write its constraints and the SQL of its claim from the machine, so that table and journal cannot differ.
func ExampleStates() {
	for _, state := range journal.States() {
		next, _ := state.Next(journal.EventBegin)
		fmt.Printf("%-9s pending %-5t open %-5t when claimed %s\n", state, state.Pending(), state.Open(), next)
	}
	// Output:
	// queued    pending true  open false when claimed intended
	// intended  pending true  open true  when claimed unknown
	// not_sent  pending true  open false when claimed intended
	// unknown   pending true  open true  when claimed unknown
	// done      pending false open false when claimed done
	// rejected  pending false open false when claimed intended
	// withdrawn pending false open false when claimed withdrawn
}
