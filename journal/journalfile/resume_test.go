package journalfile

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// openSealed opens a copy of data with a key for params.
func openSealed(t testing.TB, data []byte) (*Journal, *memory) {
	t.Helper()
	return openMemoryWith(t, data, sealing(t, 1))
}

func sealing(t testing.TB, fill byte) Options {
	t.Helper()
	seal, err := journal.NewAEAD(bytes.Repeat([]byte{fill}, 32))
	require.NoError(t, err)
	return Options{Seal: seal, DigestKey: prepaid.NewSecret("digests")}
}

// left returns the file of a process that died after it sent the payments of n, before any response.
func left(t *testing.T, options Options, n ...int) []byte {
	t.Helper()
	return leftBy(t, nil, options, "from", n...)
}

// leftBy adds payments of an account to the data of an earlier process.
func leftBy(t *testing.T, data []byte, options Options, account prepaid.AccountID, n ...int) []byte {
	t.Helper()
	j, m := openMemoryWith(t, data, options)
	for _, n := range n {
		e, err := journal.NewEntry(options.DigestKey, account, payment(n))
		require.NoError(t, err)
		run, err := e.Begin(time.Now())
		require.NoError(t, err)
		if options.Seal != nil {
			run.Entry.Sealed, err = e.Seal(options.Seal, payment(n))
			require.NoError(t, err)
		}
		require.NoError(t, j.record(run.Entry))
	}
	return m.data
}

// collect runs Resume to its end.
func collect(ctx context.Context, j *Journal, sender journal.Sender, concurrency int) (entries map[prepaid.RequestID]journal.Entry, errs map[prepaid.RequestID]error) {
	entries, errs = map[prepaid.RequestID]journal.Entry{}, map[prepaid.RequestID]error{}
	for e, err := range j.Resume(ctx, sender, concurrency) {
		entries[e.RequestID], errs[e.RequestID] = e, err
	}
	return entries, errs
}

// Records and key are enough to resume both operations; a done payment has no params.
func TestResumeNeedsOnlyFileAndKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, m := openSealed(t, nil)
		b := newBank()
		b.wait, b.err = 40*time.Second, doubt(time.Now(), 1)
		require.Error(t, payThree(t, j, b))
		for _, canary := range []string{"SECRETREF", "SECRETDEST", "12345678", "CITIZEN", "062000"} {
			require.NotContains(t, string(m.data), canary)
		}
		j, m = openSealed(t, m.data)
		for e := range j.Pending() {
			require.NotEmpty(t, e.Sealed)
		}
		b.err = nil
		began := time.Now()
		entries, errs := collect(t.Context(), j, b, 0)
		require.Len(t, entries, 3)
		for id, e := range entries {
			require.NoError(t, errs[id])
			require.Equal(t, journal.StateDone, e.State)
			require.Equal(t, b.paid[id], e.TransactionID)
			require.Nil(t, e.Sealed)
		}
		require.Equal(t, 40*time.Second, time.Since(began))
		require.Len(t, b.paid, 3)
		require.Empty(t, slices.Collect(j.Pending()))
		before := len(m.data)
		require.NoError(t, payThree(t, j, b), "the list may be run as well")
		require.Len(t, m.data, before)
		entries, _ = collect(t.Context(), j, b, 1)
		require.Empty(t, entries)
	})
}

// A resting payment does not delay a due one, even one at a time.
func TestResumeSendsWhatIsDueFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		j, _ := openMemoryWith(t, left(t, options, 1), options)
		b := newBank()
		b.wait = 40 * time.Second
		b.err, b.refuses = &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errCut}, true
		_, err := j.Transfer(t.Context(), b, "from", payment(2))
		require.ErrorIs(t, err, errCut)
		b.err, b.refuses = nil, false
		began := time.Now()
		var at []time.Duration
		var ids []prepaid.RequestID
		for e, err := range j.Resume(t.Context(), b, 1) {
			require.NoError(t, err)
			at, ids = append(at, time.Since(began)), append(ids, e.RequestID)
		}
		require.Equal(t, []time.Duration{0, 40 * time.Second}, at)
		require.Equal(t, []prepaid.RequestID{payment(2).RequestID, payment(1).RequestID}, ids)
	})
}

// Params that cannot be opened are reported, and nothing is claimed or sent.
func TestResumeWithoutParams(t *testing.T) {
	t.Parallel()
	options, another := sealing(t, 1), sealing(t, 2)
	damaged := func() []byte {
		j, m := openMemoryWith(t, left(t, options, 1, 2), options)
		one, _ := j.Get(payment(1).RequestID)
		two, _ := j.Get(payment(2).RequestID)
		one.Sealed, two.Sealed = two.Sealed, one.Sealed // from another row
		require.NoError(t, j.record(one))
		require.NoError(t, j.record(two))
		return m.data
	}
	otherDigests := options
	otherDigests.DigestKey = prepaid.NewSecret("others")
	for name, tc := range map[string]struct {
		data    []byte
		options Options
		want    error
	}{
		"never sealed":       {left(t, Options{}, 1, 2), Options{}, journal.ErrNoParams},
		"sealed from now on": {left(t, Options{}, 1, 2), options, journal.ErrNoParams},
		"no key":             {left(t, options, 1, 2), Options{}, journal.ErrKey},
		"another key":        {left(t, options, 1, 2), another, journal.ErrKey},
		"another digest key": {left(t, options, 1, 2), otherDigests, journal.ErrSealed},
		"exchanged":          {damaged(), options, journal.ErrSealed},
	} {
		j, m := openMemoryWith(t, tc.data, tc.options)
		before, b := bytes.Clone(m.data), newBank()
		entries, errs := collect(t.Context(), j, b, 2)
		require.Len(t, entries, 2, name)
		for id, e := range entries {
			require.ErrorIs(t, errs[id], tc.want, name)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(errs[id]), name)
			require.Equal(t, journal.StateIntended, e.State, name)
			require.NotContains(t, errs[id].Error(), "SECRET", name)
		}
		require.Zero(t, b.calls, name)
		require.Equal(t, before, m.data, name)
	}
}

// If a person must decide, the payment is reported and not sent.
func TestResumeLeavesToAPersonWhatIsTheirs(t *testing.T) {
	t.Parallel()
	options := sealing(t, 1)
	for name, tc := range map[string]struct {
		change func(e *journal.Entry)
		want   error
	}{
		"outside the window":  {func(e *journal.Entry) { e.Began = e.Began.Add(-journal.Window - time.Hour) }, journal.ErrWindow},
		"refused as too old":  {func(e *journal.Entry) { e.State, e.Review = journal.StateUnknown, journal.ReviewTooOld }, journal.ErrWindow},
		"another's request":   {func(e *journal.Entry) { e.State, e.Review = journal.StateUnknown, journal.ReviewReused }, prepaid.ErrRequestIDReused},
		"known as withdrawn":  {func(e *journal.Entry) { e.State = journal.StateWithdrawn }, nil},
		"known as rejected":   {func(e *journal.Entry) { e.State = journal.StateRejected }, nil},
		"known as done by me": {func(e *journal.Entry) { e.State = journal.StateDone }, nil},
	} {
		j, m := openMemoryWith(t, left(t, options, 1), options)
		e, _ := j.Get(payment(1).RequestID)
		tc.change(&e)
		require.NoError(t, j.record(e))
		before := slices.Clone(m.data)
		b := newBank()
		_, errs := collect(t.Context(), j, b, 1)
		require.Equal(t, tc.want != nil, len(errs) == 1, name)
		if tc.want != nil {
			require.ErrorIs(t, errs[e.RequestID], tc.want, name)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(errs[e.RequestID]), name)
			failure, ok := errors.AsType[*prepaid.CallError](errs[e.RequestID])
			require.True(t, ok, name)
			require.Equal(t, e.Began, failure.FirstSent, name)
		}
		require.Zero(t, b.calls, name)
		require.Equal(t, before, m.data, name)
	}
}

// If the context ends, each payment is reported once, with its known outcome.
func TestResumeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		j, _ := openMemoryWith(t, left(t, options, 1, 2), options)
		b := newBank()
		b.err, b.refuses, b.wait = &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errCut}, true, 40*time.Second
		for n := 3; n < 6; n++ {
			_, err := j.Transfer(t.Context(), b, "from", payment(n))
			require.ErrorIs(t, err, errCut)
		}
		require.Equal(t, 3, b.calls)
		check := func(ctx context.Context, want error) {
			entries, errs := collect(ctx, j, b, 2)
			require.Len(t, entries, 5)
			for id, e := range entries {
				outcome := prepaid.OutcomeOf(errs[id])
				call, ok := errors.AsType[*prepaid.CallError](errs[id])
				require.True(t, ok)
				if e.State == journal.StateIntended {
					require.ErrorIs(t, errs[id], want)
					require.Equal(t, prepaid.OutcomeUnknown, outcome)
					require.Equal(t, j.NotBefore(b, id).UTC(), call.NotBefore.UTC())
				} else {
					require.Equal(t, journal.StateNotSent, e.State)
					require.Equal(t, prepaid.OutcomeNotProcessed, outcome)
					require.Zero(t, call.NotBefore)
				}
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		check(ended, context.Canceled)
		require.Equal(t, 3, b.calls, "nothing was sent")

		began := time.Now()
		short, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		check(short, context.DeadlineExceeded)
		require.Zero(t, time.Since(began), "a wait that outlasts the deadline is not begun")
		require.Equal(t, 6, b.calls)

		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, stop)
		check(stopped, context.Canceled)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, 9, b.calls)
	})
}

// gate is a sender whose payments take a second.
type gate struct {
	*bank

	mu          sync.Mutex
	now, most   int
	afterwards  func(prepaid.RequestID)
	transferred []prepaid.RequestID
}

func (g *gate) Transfer(ctx context.Context, source prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.transferred = append(g.transferred, p.RequestID)
	g.mu.Unlock()
	time.Sleep(time.Second)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
	if g.afterwards != nil {
		g.afterwards(p.RequestID)
	}
	return g.bank.Transfer(ctx, source, p)
}

func TestResumeIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		for _, concurrency := range []int{-1, 1, 3} {
			j, _ := openMemoryWith(t, left(t, options, 0, 1, 2, 3, 4, 5), options)
			g := &gate{bank: newBank()}
			began := time.Now()
			entries, _ := collect(t.Context(), j, g, concurrency)
			require.Len(t, entries, 6)
			require.Equal(t, max(concurrency, 1), g.most)
			require.Equal(t, time.Duration(6/max(concurrency, 1))*time.Second, time.Since(began))
		}
	})
}

// After a break nothing more is sent and nothing is running; payments in progress are recorded.
func TestLeavingResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		for _, leave := range []func(){func() {}, func() { panic("left") }} {
			j, _ := openMemoryWith(t, left(t, options, 0, 1, 2, 3, 4, 5), options)
			g := &gate{bank: newBank()}
			func() {
				defer func() { _ = recover() }()
				for _, err := range j.Resume(t.Context(), g, 2) {
					require.NoError(t, err)
					leave()
					break
				}
			}()
			require.Zero(t, g.now)
			require.LessOrEqual(t, len(g.transferred), 4, "two, and two that had begun meanwhile")
			require.Equal(t, len(g.paid), len(done(j)))
			require.Len(t, slices.Collect(j.Pending()), 6-len(g.paid))
		}
	})
}

// holder is a gate whose payments of other accounts than "from" rest until the channel is closed.
type holder struct {
	*gate

	released chan struct{}
}

func (h holder) AwaitRepeat(_ context.Context, account prepaid.AccountID, _ time.Time) error {
	if account != "from" {
		<-h.released
	}
	return nil
}

// If another call resolves a payment meanwhile, it is not sent again.
func TestResumeAndAnotherCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		j, _ := openMemoryWith(t, leftBy(t, left(t, options, 0), options, "other", 1, 2, 3, 4, 5), options)
		var ids []prepaid.RequestID
		for e := range j.All() {
			ids = append(ids, e.RequestID)
		}
		g := holder{&gate{bank: newBank()}, make(chan struct{})}
		g.afterwards = func(id prepaid.RequestID) {
			if id != ids[0] {
				return
			}
			synctest.Wait() // the loop has read all, since all rest
			for _, dropped := range []int{1, 5} {
				require.NoError(t, j.Resolve(ids[dropped], journal.Moved("99")))
				delete(j.index, keyOf(ids[dropped])) // as Compact does
			}
			require.NoError(t, j.Resolve(ids[2], journal.NotMoved()))
			require.NoError(t, j.Resolve(ids[3], journal.NotMoved()))
			require.NoError(t, j.Withdraw(ids[3]))
			require.NoError(t, j.Resolve(ids[4], journal.Moved("99")))
			close(g.released)
		}
		entries, errs := collect(t.Context(), j, g, 1)
		require.Equal(t, ids[:1], g.transferred)
		require.NoError(t, errs[ids[0]])
		for i, want := range map[int]error{2: journal.ErrState, 3: journal.ErrWithdrawn} {
			require.ErrorIs(t, errs[ids[i]], want)
			require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(errs[ids[i]]))
		}
		require.NoError(t, errs[ids[4]])
		require.Equal(t, prepaid.TransactionID("99"), entries[ids[4]].TransactionID)
		for _, dropped := range []int{1, 5} {
			require.ErrorIs(t, errs[ids[dropped]], journal.ErrNoPayment)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(errs[ids[dropped]]))
		}
	})
}

// If params cannot be sealed, nothing is sent or recorded.
func TestNothingIsSentUnsealed(t *testing.T) {
	t.Parallel()
	options := sealing(t, 1)
	options.Seal = brokenAEAD{}
	j, m := openMemoryWith(t, nil, options)
	b := newBank()
	_, err := j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, errFull)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.Zero(t, b.calls)
	require.Equal(t, header, string(m.data))
}

type brokenAEAD struct{ journal.AEAD }

func (brokenAEAD) Encrypt(_, _ []byte) ([]byte, error) { return nil, errFull }

// Running the list again adds params to records without them.
func TestRunningTheListSealsItsParams(t *testing.T) {
	t.Parallel()
	options := sealing(t, 1)
	unsealed := Options{DigestKey: options.DigestKey}
	j, m := openMemoryWith(t, left(t, unsealed, 1), options)
	b := newBank()
	b.err, b.refuses = errCut, true
	_, err := j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, errCut)
	j, _ = openMemoryWith(t, m.data, options)
	b.err, b.refuses = nil, false
	_, errs := collect(t.Context(), j, b, 1)
	require.Equal(t, map[prepaid.RequestID]error{payment(1).RequestID: nil}, errs)
}

// A list or a sender that panics or ends its goroutine ends neither the process nor the loop, and no payment is omitted without an error.
func TestListMisbehaves(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range map[string]func(){"panic": func() { panic("SECRETREF") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j, _ := openMemoryWith(t, nil, Options{})
				entries := make(map[prepaid.RequestID]error)
				for e, err := range j.PayAll(t.Context(), rudeBank{newBank(), misbehaves}, 1, func(yield func(journal.Payment) bool) {
					for n := range 2 {
						if !yield(journal.Payment{Account: "from", Params: payment(n)}) {
							return
						}
					}
					misbehaves()
				}) {
					entries[e.RequestID] = err
				}
				require.Len(t, entries, 3)
				for _, id := range []prepaid.RequestID{payment(0).RequestID, payment(1).RequestID, ""} {
					require.Error(t, entries[id])
					require.NotContains(t, entries[id].Error(), "SECRETREF")
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(entries[id]))
				}
			})
		})
	}
}

type rudeBank struct {
	*bank

	misbehaves func()
}

func (b rudeBank) NotBefore(lastSent time.Time) time.Time {
	b.misbehaves()
	return lastSent
}
