package journal_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// history is the part of *prepaid.AccountsService that the reconciliation of a day needs.
type history interface {
	Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

// debits returns the debits in a history, from one moment up to another.
func debits(ctx context.Context, h history, payer prepaid.AccountID, from, before time.Time) (map[prepaid.TransactionID]prepaid.Amount, error) {
	booked := map[prepaid.TransactionID]prepaid.Amount{}
	for t, err := range h.Transactions(ctx, payer, prepaid.ListTransactionsParams{From: from, Before: before}) {
		if err != nil {
			return nil, err // a partial history is no proof
		}
		if t.Amount.Sign() < 0 {
			booked[t.ID] = t.Amount.Abs()
		}
	}
	return booked, nil
}

// dayEnd compares the journal with the history of the paying account, from the day's first moment to the next
// day's. The money of a payment moved between Began and Changed, perhaps on another day. The result is for a
// person: dayEnd corrects nothing.
func dayEnd(ctx context.Context, h history, j *journal.Journal, payer prepaid.AccountID, from, next time.Time) ([]string, error) {
	booked, err := debits(ctx, h, payer, from, next)
	if err != nil {
		return nil, err
	}
	var findings []string
	var unseen []journal.Entry
	earliest := from
	for e := range j.All() {
		if e.AccountID != payer {
			continue
		}
		amount, found := booked[e.TransactionID]
		delete(booked, e.TransactionID) // report each of these once, here
		switch {
		case e.State.Pending():
			if e.Began.Before(next) {
				findings = append(findings, fmt.Sprintf("%s is %s: run it again", e.RequestID, e.State))
			}
		case found && amount != e.Amount:
			findings = append(findings, fmt.Sprintf("%s was paid with another amount", e.RequestID))
		case !found && e.State == journal.StateDone && !e.Changed.Before(from) && e.Changed.Before(next):
			unseen = append(unseen, e) // settled today: the money may have moved on an earlier day
			if e.Began.Before(earliest) {
				earliest = e.Began
			}
		}
	}
	if err := j.Err(); err != nil { // the loop may have ended early
		return nil, err
	}
	if len(unseen) > 0 {
		const tolerance = 10 * time.Minute // clocks differ, and the service may book late
		wider, err := debits(ctx, h, payer, earliest.Add(-tolerance), next.Add(tolerance))
		if err != nil {
			return nil, err
		}
		for _, e := range unseen {
			if _, found := wider[e.TransactionID]; !found {
				findings = append(findings, fmt.Sprintf("%s was paid and is not in the history", e.RequestID))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(booked)) {
		findings = append(findings, fmt.Sprintf("transaction %s is not in the journal", id))
	}
	return findings, nil
}

// At the end of a day the journal and the history of the paying account must agree, also on a payment whose money
// moved on that day and whose outcome became known after midnight.
func Example_dayEnd() {
	srv, err := prepaidtest.Start(prepaidtest.Options{RandomSeed: new(uint64(1))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	config, ctx := srv.Config(), context.Background()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	j, err := journal.Open(filepath.Join(dir, "payments"), journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()

	pay := func(id prepaid.RequestID) {
		_, err := j.Transfer(ctx, client.Accounts, from, prepaid.TransferParams{
			RequestID: id, Amount: prepaid.Cents(2550), DestinationAccountID: to,
			SourceReference: "PAYROLL", DestinationReference: "SALARY",
		})
		fmt.Println(id, prepaid.OutcomeOf(err))
	}
	pay("emp-7")
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"), prepaidtest.CommitThenDrop())
	pay("emp-8")
	pay("emp-9")              // the money moved; the response is lost
	srv.Adjust(from, "-3.00") // not in the journal

	midnight := time.Now() // a program uses the first moments of two days in its time zone
	pay("emp-9")
	findings, err := dayEnd(ctx, client.Accounts, j, from, midnight.Add(-time.Hour), midnight)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, finding := range findings {
		fmt.Println("-", finding)
	}
	// Output:
	// emp-7 applied
	// emp-8 outcome unknown
	// emp-9 outcome unknown
	// emp-9 applied
	// - emp-8 is unknown: run it again
	// - transaction 100000006 is not in the journal
}

// A payment of unknown outcome that is too old to be sent again is searched for, and a person records the result
// in the journal.
func ExampleJournal_Resolve() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	j, err := journal.Open(filepath.Join(dir, "payments"), journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Truncate().Always()) // it is executed, but each response is cut
	params := prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(2550), DestinationAccountID: to,
		SourceReference: "INVOICE 7", DestinationReference: "INVOICE 7",
	}
	_, err = j.Transfer(ctx, client.Accounts, from, params)
	fmt.Println(prepaid.OutcomeOf(err))

	finding, lookErr := client.Accounts.FindMovement(ctx, prepaid.FindMovementParams{
		AccountID: from, Amount: params.Amount, Reference: params.SourceReference,
	}.Around(err))
	if lookErr != nil { // ErrNotSeen is no proof: it stays unknown
		fmt.Println(lookErr)
		return
	}
	err = j.Resolve(params.RequestID, journal.Moved(finding.Transactions[0].ID)) // after a person has looked
	entry, _ := j.Get(params.RequestID)
	fmt.Println(err, entry.State, entry.Resolved, srv.Movements(params.RequestID))
	stats, err := j.Stats()
	fmt.Println(stats.Done.Count, stats.Done.Sum, stats.Unknown.Count, err)
	// Output:
	// outcome unknown
	// <nil> done true 1
	// 1 25.50 0 <nil>
}

// The operator says that a payment of unknown outcome was never made, and never will be: it is no longer pending.
// Only an unknown outcome can be resolved manually.
func ExampleResolution() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	j, err := journal.Open(filepath.Join(dir, "payments"), journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"))
	_, err = j.Transfer(context.Background(), srv.Client().Accounts, from, prepaid.TransferParams{
		RequestID: "invoice-7", Amount: prepaid.Cents(2550), DestinationAccountID: to,
		SourceReference: "INVOICE 7", DestinationReference: "INVOICE 7",
	})
	fmt.Println(prepaid.OutcomeOf(err))
	fmt.Println(j.Resolve("invoice-7", journal.NotMoved()))
	entry, _ := j.Get("invoice-7")
	fmt.Println(entry.State, entry.Resolved)
	fmt.Println(j.Resolve("invoice-7", journal.Moved("77")))
	// Output:
	// outcome unknown
	// <nil>
	// rejected true
	// journal: no payment of unknown outcome under this request id
}
