package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// An order arrives twice, the second time with another amount. A store compares it with its record of the request ID.
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

// A store can derive its constraints and the SQL of its claim from the machine, so that both agree.
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

// A store seals the params of a row. A new key comes first, and params sealed with the old one still open. Nothing opens in
// another row.
func ExampleNewAEAD() {
	digests := prepaid.NewSecret("a key for digests")
	oldKey, newKey := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32) // real ones are random
	params := prepaid.TransferParams{
		RequestID: "invoice-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: "987",
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}
	entry, err := journal.NewEntry(digests, "123", params)
	if err != nil {
		fmt.Println(err)
		return
	}
	before, err := journal.NewAEAD(oldKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	sealed, err := entry.Seal(before, params)
	if err != nil {
		fmt.Println(err)
		return
	}
	rotated, err := journal.NewAEAD(newKey, oldKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	opened, err := entry.Open(rotated, digests, sealed)
	fmt.Println(opened == params, err)
	entry.AccountID = "456"
	_, err = entry.Open(rotated, digests, sealed)
	fmt.Println(errors.Is(err, journal.ErrSealed))
	// Output:
	// true <nil>
	// true
}

// The operator says that a payment of unknown outcome was never made, and never will be: it is no longer pending.
// Only an unknown outcome can be resolved manually.
func ExampleResolution() {
	now := time.Now()
	e, err := journal.NewEntry(prepaid.NewSecret("a key for digests"), "123", prepaid.TransferParams{RequestID: "invoice-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := e.Begin(now)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, _ = run.End(now, nil, context.DeadlineExceeded) // no response
	fmt.Println(e.State)
	e, err = e.Resolve(now, journal.NotMoved())
	fmt.Println(e.State, e.Resolved, err)
	_, err = e.Resolve(now, journal.Moved("77"))
	fmt.Println(err)
	// Output:
	// unknown
	// rejected true <nil>
	// journal: no payment of unknown outcome under this request id
}
