package storetest_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/storetest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// database is a table of payments. Each method is one transaction and is durable when it returns.
type database struct {
	mu   sync.Mutex
	now  func() time.Time // the clock of the database
	rows map[prepaid.RequestID]*row
}

// row is a payment, with all its times by the clock of the database.
type row struct {
	entry journal.Entry // a column for each field
	fence string
	due   time.Time
	// While a worker holds the payment, it may send until sends, and its last request may be in progress for rest after sends.
	sends time.Time
	rest  time.Duration
}

// enqueue is part of the transaction of an order. The request ID is the primary key; if it exists, see journal.Entry.Match.
func (d *database) enqueue(e journal.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows[e.RequestID] = &row{entry: e, due: d.now()}
}

// admitted uses an index on the due time of rows whose entry is due.
func (r *row) admitted(now, admitted time.Time) bool {
	return !r.due.After(now) && (!r.entry.Rests() || !r.due.After(admitted))
}

// due returns payments that workers send, the longest due first.
func (d *database) due(where func(r *row) bool) []*row {
	var list []*row
	for _, r := range d.rows {
		if r.entry.Due() && where(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *row) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.entry.RequestID, b.entry.RequestID))
	})
	return list
}

// Claim is "select … order by due limit n for update skip locked", an update of these rows, and a commit.
func (d *database) Claim(_ context.Context, c journal.Claim) ([]journal.Held, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	due := d.due(func(r *row) bool { return r.admitted(now, c.Admitted) })
	var list []journal.Held
	for _, r := range due[:min(c.N, len(due))] {
		intent, err := r.entry.Intent(now)
		if err != nil {
			return nil, err // never for a payment that is due
		}
		h := journal.Held{Entry: r.entry, Fence: rand.Text(), Now: now}
		if !r.sends.IsZero() { // the last run never ended
			h.Entry = h.Entry.Died(r.sends, r.rest)
		}
		*r = row{entry: intent, fence: h.Fence, due: now.Add(c.Sends + c.Rest), sends: now.Add(c.Sends), rest: c.Rest}
		list = append(list, h)
	}
	return list, nil
}

// Record locks each row and, depending on its fence, updates it.
func (d *database) Record(_ context.Context, ends []journal.End) ([]journal.Recorded, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	recorded := make([]journal.Recorded, len(ends))
	for i, end := range ends {
		r, success := d.rows[end.Entry.RequestID], end.Entry.State == journal.StateDone
		now := d.now()
		after := row{entry: end.Entry.Shift(time.Now(), now), fence: end.Fence, due: now.Add(end.Wait)}
		switch {
		case r == nil:
			recorded[i].Gone = true
		case r.fence == end.Fence:
			recorded[i].Written = true
			if !r.sends.IsZero() { // else an earlier call has recorded it
				*r = after
			}
		case success && r.entry.State == journal.StateDone && !r.entry.Resolved:
			recorded[i] = journal.Recorded{Overtaken: true, Known: r.entry.TransactionID}
		case success:
			recorded[i] = journal.Recorded{Overtaken: true, Written: true}
			after.fence = rand.Text() // now the other worker's end is overtaken
			*r = after
		default:
			recorded[i].Overtaken = true
		}
	}
	return recorded, nil
}

// Resting is a select.
func (d *database) Resting(_ context.Context, admitted time.Time) (*journal.Resting, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for _, r := range d.due(func(r *row) bool { return r.entry.Rests() && r.due.After(admitted) }) {
		return &journal.Resting{Account: r.entry.AccountID, Due: r.due, Wait: r.due.Sub(now), Age: now.Sub(r.entry.Changed)}, nil
	}
	return nil, nil
}

// Decide locks the row until its update is committed.
func (d *database) Decide(_ context.Context, id prepaid.RequestID, decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, now := d.rows[id], d.now()
	if r == nil {
		return journal.ErrNoPayment
	}
	if !r.sends.IsZero() && r.due.After(now) {
		return journal.ErrUnderWay
	}
	e, err := decision(r.entry, now)
	if err != nil {
		return err
	}
	*r = row{entry: e, fence: rand.Text(), due: now}
	if e.NotBefore.After(now) {
		r.due = e.NotBefore
	}
	return nil
}

// A process sends the payments of a store in a database. The service refuses the second: the balance is too low.
func Example() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	digests, seal := storetest.DigestKey(), storetest.Seal() // real keys are random, and in a vault
	store := &database{now: time.Now, rows: make(map[prepaid.RequestID]*row)}
	for _, id := range []prepaid.RequestID{"invoice-7", "invoice-8"} {
		params := prepaid.TransferParams{
			RequestID: id, Amount: prepaid.MustAmount("65.50"), DestinationAccountID: to,
			SourceReference: string(id), DestinationReference: string(id),
		}
		e, err := journal.NewEntry(digests, from, params)
		if err == nil {
			e.Sealed, err = e.Seal(seal, params)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		store.enqueue(e)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	workers := journal.Workers{N: 1, DigestKey: digests, Seal: seal, Trace: journal.Trace{Recorded: func(e journal.Entry) {
		fmt.Println(e.RequestID, e.State, srv.Balance(from))
		if e.RequestID == "invoice-8" {
			stop()
		}
	}}}
	if err := workers.Run(ctx, store, srv.Client().Accounts); err != nil {
		fmt.Println(err)
	}
	// Output:
	// invoice-7 done 34.50
	// invoice-8 rejected 34.50
}
