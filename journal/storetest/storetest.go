// Package storetest tests implementations of [journal.Store]: with a store that passes, no payment is made twice or left out,
// no matter when a process dies.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Subject { ... })
//	}
//
// The example is a small store that passes.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Subject is a store to test, with the operations that the tests need.
type Subject struct {
	// Store is empty at first.
	Store journal.Store
	// Enqueue adds an entry of [NewEntry] to the store, due at once.
	Enqueue func(t testing.TB, account prepaid.AccountID, params prepaid.TransferParams)
	// Get returns the entry of a payment as it is stored, with or without its sealed params.
	Get func(t testing.TB, id prepaid.RequestID) journal.Entry
	// Restart returns the store as the next process finds it after this one died. The other functions then use that store.
	Restart func(t testing.TB) journal.Store
	// Remove deletes a payment, as if after a failover to a server that lacks it. If nil, the store cannot lose payments.
	Remove func(t testing.TB, id prepaid.RequestID)
	// OneProcess: claims do not expire; only the death of the process frees them, as with package journalfile.
	OneProcess bool
}

// Run tests a store. Each test calls open for a new store. The tests take some seconds, because they wait for claims to expire. On
// a slow machine they take longer, but do not fail.
func Run(t *testing.T, open func(t testing.TB) Subject) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(newSuite(t, open(t))) })
	}
}

var tests = []struct {
	name string
	run  func(s *suite)
}{
	{"claim what is due", claimWhatIsDue},
	{"claim the longest due first", claimLongestDueFirst},
	{"claim in many workers", claimInManyWorkers},
	{"claim after a worker died", claimAfterDeath},
	{"claim what is admitted", claimWhatIsAdmitted},
	{"record every field", recordEveryField},
	{"record again", recordAgain},
	{"record a payment given back", recordGivenBack},
	{"record a wait", recordWait},
	{"record what was overtaken", recordOvertaken},
	{"record two successes", recordTwoSuccesses},
	{"record what is gone", recordGone},
	{"decide", decide},
	{"decide against an earlier run", decideAgainstEarlierRun},
	{"decide to send again", decideToRetry},
	{"kill workers", killWorkers},
}

// DigestKey is the key of the digests in the entries of the tests.
func DigestKey() prepaid.Secret { return prepaid.NewSecret("key of the digests") }

// Seal encrypts the params of the tests.
func Seal() journal.AEAD {
	seal, _ := journal.NewAEAD(bytes.Repeat([]byte{7}, 32)) // this length is valid
	return seal
}

// NewEntry returns a queued entry with sealed params, as a store keeps it.
func NewEntry(t testing.TB, account prepaid.AccountID, params prepaid.TransferParams) journal.Entry {
	t.Helper()
	e, err := journal.NewEntry(DigestKey(), account, params)
	if err == nil {
		e.Sealed, err = e.Seal(Seal(), params)
	}
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	return e
}

// suite is one test of a store.
type suite struct {
	testing.TB
	Subject

	began       time.Time
	there, here time.Time // the same moment by the clocks of the store and of the process
	fences      map[string]bool
}

func newSuite(t testing.TB, subject Subject) *suite {
	now := time.Now()
	return &suite{TB: t, Subject: subject, began: now, there: now, here: now, fences: make(map[string]bool)}
}

const account prepaid.AccountID = "payer"

func params(id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: id, Amount: prepaid.MustAmount("25.50"), DestinationAccountID: "payee",
		SourceReference: "invoice", DestinationReference: string("invoice " + id),
	}
}

func (s *suite) enqueue(ids ...prepaid.RequestID) {
	for _, id := range ids {
		s.Enqueue(s, account, params(id))
	}
}

// long returns a claim for the whole test; short returns one for a moment.
func long(n int) journal.Claim {
	return journal.Claim{N: n, Sends: time.Hour, Rest: time.Hour, Admitted: everything()}
}

func short() journal.Claim {
	return journal.Claim{N: 1, Sends: 60 * time.Millisecond, Rest: 40 * time.Millisecond, Admitted: everything()}
}

// everything admits all payments by any store's clock.
func everything() time.Time { return time.Now().AddDate(1, 0, 0) }

const (
	// patience is how long a test waits for something that must happen. A test waits that long only if the store fails.
	patience = 30 * time.Second
	// inaccuracy is how much two clocks may differ, in addition to the time of calls.
	inaccuracy = 20 * time.Millisecond
)

// held is a payment that a test has claimed.
type held struct {
	journal.Held

	from, to time.Time // before and after the claim, by the clock of the process
}

func (s *suite) claim(c journal.Claim) []held {
	s.Helper()
	from := time.Now()
	list, err := s.Store.Claim(s.Context(), c)
	to := time.Now()
	if err != nil {
		s.Fatalf("Claim: %v", err)
	}
	if len(list) > c.N {
		s.Fatalf("Claim of %d took %d payments", c.N, len(list))
	}
	all := make([]held, len(list))
	for i, h := range list {
		if s.fences[h.Fence] {
			s.Fatalf("Claim: the fence %q was used before", h.Fence)
		}
		s.fences[h.Fence], s.there, s.here = true, h.Now, to
		all[i] = held{h, from, to}
	}
	return all
}

// await claims one payment as soon as one is due.
func (s *suite) await(c journal.Claim) held {
	s.Helper()
	c.N = 1
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		if list := s.claim(c); len(list) == 1 {
			return list[0]
		}
	}
	s.Fatal("Claim: takes no payment, although one is due")
	return held{}
}

// none requires that nothing can be claimed.
func (s *suite) none(why string) {
	s.Helper()
	for range 4 {
		if list := s.claim(long(10)); len(list) > 0 {
			s.Fatalf("Claim took %s, which %s", list[0].Entry.RequestID, why)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// dies ends the process, and returns the times before and after its end.
func (s *suite) dies() (from, to time.Time) {
	from = time.Now()
	s.Store = s.Restart(s)
	return from, time.Now()
}

// begin begins the run of a claimed payment, by the clock of the process.
func (s *suite) begin(h held) journal.Run {
	s.Helper()
	run, err := h.Entry.Shift(s.there, s.here).Begin(time.Now())
	if err != nil {
		s.Fatalf("Begin: %v", err)
	}
	return run
}

// ends ends the run of a claimed payment, with a transaction or, if that is empty, with an error.
func (s *suite) ends(h held, transaction prepaid.TransactionID, err error) journal.End {
	s.Helper()
	var result *prepaid.TransferResult
	if err == nil {
		result = &prepaid.TransferResult{TransactionID: transaction, CorrelationID: "correlation of " + string(transaction)}
	}
	after, _ := s.begin(h).End(time.Now(), result, err)
	return journal.End{Fence: h.Fence, Entry: after}
}

// fails returns the error of a call with the given outcome.
func fails(outcome prepaid.Outcome) error {
	now := time.Now()
	return &prepaid.CallError{
		Outcome: outcome, Attempts: 3, FirstSent: now.Add(-40 * time.Minute), LastSent: now.Add(-20 * time.Minute),
		NotBefore: now.Add(-10 * time.Minute), Err: fmt.Errorf("storetest: %s", outcome),
	}
}

func (s *suite) record(ends ...journal.End) []journal.Recorded {
	s.Helper()
	recorded, err := s.Store.Record(s.Context(), ends)
	if err != nil {
		s.Fatalf("Record: %v", err)
	}
	if len(recorded) != len(ends) {
		s.Fatalf("Record of %d ends returned %d", len(ends), len(recorded))
	}
	return recorded
}

// records calls Record for one end and requires its result.
func (s *suite) records(end journal.End, want journal.Recorded) {
	s.Helper()
	if got := s.record(end)[0]; got != want {
		s.Fatalf("Record of %s returned %+v instead of %+v", end.Entry.State, got, want)
	}
}

var written = journal.Recorded{Written: true}

// is requires that the stored entry equals want, by the process's clock. Times may differ by as much as the test's calls took.
func (s *suite) is(want journal.Entry) {
	s.Helper()
	got := s.Get(s, want.RequestID).Shift(s.there, s.here)
	if got.State == journal.StateDone && len(got.Sealed) > 0 {
		s.Error("Record: a payment that is done still has its sealed params")
	}
	if want.State.Open() && want.NotBefore.IsZero() { // being sent: the time of an earlier run is not used
		got.LastSent, want.LastSent = time.Time{}, time.Time{}
	}
	tolerance := time.Since(s.began) + inaccuracy
	for _, field := range []struct {
		name      string
		got, want *time.Time
	}{
		{"Began", &got.Began, &want.Began}, {"Changed", &got.Changed, &want.Changed}, {"FirstSent", &got.FirstSent, &want.FirstSent},
		{"LastSent", &got.LastSent, &want.LastSent}, {"NotBefore", &got.NotBefore, &want.NotBefore},
	} {
		if field.got.IsZero() != field.want.IsZero() || field.got.Sub(*field.want).Abs() > tolerance {
			s.Errorf("%s: %s is %v instead of %v", want.RequestID, field.name, *field.got, *field.want)
		}
		*field.got, *field.want = time.Time{}, time.Time{}
	}
	got.Sealed, want.Sealed, got.Rest, want.Rest = nil, nil, 0, 0
	if !reflect.DeepEqual(got, want) {
		s.Errorf("%s: stored is\n%+v\ninstead of\n%+v", want.RequestID, got, want)
	}
	if s.Failed() {
		s.FailNow()
	}
}

// isDone requires that the success of an overtaken run is stored. It ignores facts in which stores may differ.
func (s *suite) isDone(id prepaid.RequestID, transaction prepaid.TransactionID) {
	s.Helper()
	e := s.Get(s, id)
	if e.State != journal.StateDone || e.TransactionID != transaction || e.CorrelationID != "correlation of "+string(transaction) ||
		e.Resolved || e.Review != "" || e.Code != "" || !e.NotBefore.IsZero() {
		s.Fatalf("%s: stored is\n%+v\ninstead of the transaction %s", id, e, transaction)
	}
}

// decides makes a decision, which must succeed.
func (s *suite) decides(id prepaid.RequestID, decision func(e journal.Entry, now time.Time) (journal.Entry, error)) {
	s.Helper()
	if err := s.Store.Decide(context.WithoutCancel(s.Context()), id, decision); err != nil {
		s.Fatalf("Decide: %v", err)
	}
}
