package journalfile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/journal"
)

// hold is a Journal's state of a payment that workers have claimed. It is deleted after the run or, if the payment is
// due again, replaced by the next claim.
type hold struct {
	fence string
	leave func()
	ended bool      // the run with this fence has ended
	due   time.Time // if ended: when the payment may be claimed again
}

// candidate is a payment that may be claimed once its due time has come.
type candidate struct {
	id      prepaid.RequestID
	due     time.Time
	account prepaid.AccountID
	changed time.Time
	rests   bool
}

// candidates returns the payments that workers can send, sorted by due time: pending payments with sealed params. If reading the file
// took longer than workers wait between claims, the result is used for 20 times the reading time. The caller holds claiming.
func (j *Journal) candidates() ([]candidate, error) {
	began := time.Now()
	if j.candidatesTook > 250*time.Millisecond && began.Sub(j.candidatesRead) < 20*j.candidatesTook {
		return j.candidatesLeft, nil
	}
	var all []candidate
	for e := range j.Pending() {
		if !e.Due() || e.Sealed == nil {
			continue
		}
		h, held := j.hold(e.RequestID)
		if held && !h.ended {
			continue
		}
		c := candidate{id: e.RequestID, due: h.due, account: e.AccountID, changed: e.Changed, rests: e.Rests()}
		if sent := e.SentUntil(); c.rests && !sent.After(began) { // else the clock was set back: claim corrects the time
			c.due = slices.MaxFunc([]time.Time{h.due, e.NotBefore, sent}, time.Time.Compare)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.id, b.id)) })
	j.candidatesLeft, j.candidatesRead, j.candidatesTook = all, time.Now(), time.Since(began)
	return all, j.Err()
}

// Claim implements [journal.Store] for payments with sealed params. When a process dies, its claims end with its lock on the file.
func (j *Journal) Claim(_ context.Context, c journal.Claim) ([]journal.Held, error) {
	j.claiming.Lock()
	defer j.claiming.Unlock()
	candidates, err := j.candidates()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	var list []journal.Held
	var intents []journal.Entry
	j.candidatesLeft = slices.DeleteFunc(candidates, func(next candidate) bool {
		if len(list) == c.N || next.due.After(now) || next.rests && next.due.After(c.Admitted) {
			return false
		}
		if h, intent, ok := j.claim(next.id, now, c); ok { // false if another call works on the payment or was faster
			list, intents = append(list, h), append(intents, intent)
		}
		return true
	})
	if err := j.record(intents...); err != nil {
		for _, h := range list {
			j.release(journal.End{Fence: h.Fence, Entry: h.Entry})
		}
		return nil, err
	}
	return list, nil
}

// claim claims one payment; the caller records the intent.
func (j *Journal) claim(id prepaid.RequestID, now time.Time, c journal.Claim) (h journal.Held, intent journal.Entry, ok bool) {
	leave, _ := j.tryEnter(id)
	if leave == nil {
		return h, intent, false
	}
	e, _, err := j.find(id)
	ok = err == nil && e.Due()
	if bound, moved := bounded(e, now); ok && moved {
		_, ok = j.record(bound), false // the payment must wait; if record fails, all later records fail
	}
	if !ok {
		leave()
		return h, intent, false
	}
	intent, _ = e.Intent(now) // always possible: it is pending
	intent.Rest = c.Rest
	h = journal.Held{Entry: e, Fence: rand.Text(), Now: now}
	j.mu.Lock()
	j.holds[id] = hold{fence: h.Fence, leave: leave}
	j.mu.Unlock()
	return h, intent, true
}

// Record implements [journal.Store].
func (j *Journal) Record(_ context.Context, ends []journal.End) ([]journal.Recorded, error) {
	j.recording.Lock()
	defer j.recording.Unlock()
	recorded := make([]journal.Recorded, len(ends))
	var entries []journal.Entry
	for i, end := range ends {
		h, held := j.hold(end.Entry.RequestID)
		now, known, err := j.find(end.Entry.RequestID)
		if err != nil {
			return nil, err
		}
		switch {
		case !known: // dropped by Compact
			recorded[i].Gone = true
		case held && h.fence == end.Fence && !h.ended:
			recorded[i].Written = true
			entries = append(entries, end.Entry)
		case same(now, end.Entry): // written by an earlier call
			recorded[i].Written = true
		case end.Entry.State == journal.StateDone && now.State == journal.StateDone && !now.Resolved:
			recorded[i] = journal.Recorded{Overtaken: true, Known: now.TransactionID}
		case end.Entry.State == journal.StateDone:
			recorded[i] = journal.Recorded{Overtaken: true, Written: true}
			entries = append(entries, end.Entry)
		default:
			recorded[i].Overtaken = true
		}
	}
	if err := j.record(entries...); err != nil {
		return nil, err
	}
	for i, end := range ends {
		if recorded[i].Written {
			j.release(end)
		}
	}
	return recorded, nil
}

// Resting implements [journal.Store].
func (j *Journal) Resting(_ context.Context, admitted time.Time) (*journal.Resting, error) {
	j.claiming.Lock()
	defer j.claiming.Unlock()
	candidates, err := j.candidates()
	for _, c := range candidates {
		if c.rests && c.due.After(admitted) {
			return &journal.Resting{Account: c.account, Due: c.due, Wait: time.Until(c.due), Age: time.Since(c.changed)}, nil
		}
	}
	return nil, err
}

// Evidence implements [journal.EvidenceStore].
func (j *Journal) Evidence(context.Context) ([]byte, time.Time, error) {
	content, err := j.disk.read(j.path + evidence)
	return content, time.Now(), err
}

// SaveEvidence implements [journal.EvidenceStore]. The evidence is in a file next to the journal, with the suffix .evidence. Without this
// file, payments of unknown outcome only wait longer.
func (j *Journal) SaveEvidence(_ context.Context, content []byte) error {
	return j.disk.write(j.path+evidence, content, j.mode)
}

// remember keeps the evidence of sender until forget is called. If it is already doing so, it only continues for longer.
func (j *Journal) remember(ctx context.Context, sender journal.Sender) (forget func()) {
	j.keeping.Lock()
	defer j.keeping.Unlock()
	if j.keepers++; j.keepers == 1 {
		j.stopKeeping = liveness.Keep(ctx, j, sender, func() bool { return true }, func(error) {})
	}
	return func() {
		j.keeping.Lock()
		defer j.keeping.Unlock()
		if j.keepers--; j.keepers == 0 {
			j.stopKeeping()
		}
	}
}

// Decide implements [journal.Store].
func (j *Journal) Decide(_ context.Context, id prepaid.RequestID, decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	leave, _ := j.tryEnter(id)
	if leave == nil {
		return journal.ErrUnderWay
	}
	defer leave()
	e, known, err := j.find(id)
	if err == nil && !known {
		err = journal.ErrNoPayment
	}
	if err == nil {
		e, err = decision(e, time.Now())
	}
	if err != nil {
		return err
	}
	j.mu.Lock()
	delete(j.holds, id) // ends the payment's claim
	j.mu.Unlock()
	return j.record(e)
}

// Resolve records a payment of unknown outcome as Done or Rejected, with [journal.Entry].Resolved set. A moved payment is never sent again.
// A payment that did not move is no longer pending, but another run sends it again. After its request ID has expired, it needs a new ID.
//
// Errors: [journal.ErrNotUnknown], [journal.ErrUnderWay], a [*prepaid.ValidationError] of the resolution, [journal.ErrNotRecorded].
func (j *Journal) Resolve(id prepaid.RequestID, resolution journal.Resolution) error {
	err := j.Decide(context.Background(), id, func(e journal.Entry, now time.Time) (journal.Entry, error) { return e.Resolve(now, resolution) })
	if errors.Is(err, journal.ErrNoPayment) {
		return journal.ErrNotUnknown
	}
	return err
}

// Withdraw records that a payment is not sent any more, for example because you paid some other way. It must be unsent
// or rejected: nothing moved. From then on, Transfer and DirectEntryOut refuse its request ID with [journal.ErrWithdrawn].
//
// Errors: [journal.ErrState] for a payment that is done, already withdrawn, or that may have moved the money (resolve it
// first); [journal.ErrNoPayment], [journal.ErrUnderWay], [journal.ErrNotRecorded].
func (j *Journal) Withdraw(id prepaid.RequestID) error {
	return j.Decide(context.Background(), id, journal.Entry.Withdraw)
}

// Retry makes a rejected or withdrawn payment pending, see [journal.Entry.Retry].
//
// Errors: [journal.ErrState] for any other payment; [journal.ErrNoPayment], [journal.ErrUnderWay], [journal.ErrNotRecorded].
func (j *Journal) Retry(id prepaid.RequestID) error {
	return j.Decide(context.Background(), id, journal.Entry.Retry)
}

func (j *Journal) hold(id prepaid.RequestID) (h hold, held bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h, held = j.holds[id]
	return h, held
}

// release ends the claim of a payment, whoever holds it.
func (j *Journal) release(end journal.End) {
	j.mu.Lock()
	h, held := j.holds[end.Entry.RequestID]
	if !held || h.ended {
		j.mu.Unlock()
		return
	}
	h.ended, h.due = true, time.Now().Add(end.Wait)
	if j.holds[end.Entry.RequestID] = h; !end.Entry.Due() {
		delete(j.holds, end.Entry.RequestID)
	}
	j.mu.Unlock()
	h.leave()
}

func same(a, b journal.Entry) bool {
	x, errX := encode(a)
	y, errY := encode(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
