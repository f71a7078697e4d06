package journalfile

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// slowBank carries out a payment some time after its request, and also a repeat that arrives earlier. It loses the first
// responses.
type slowBank struct {
	waits

	takes    time.Duration
	lost     int // responses
	finished map[prepaid.RequestID]time.Time
	moved    int
}

func (b *slowBank) Transfer(_ context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	now := time.Now()
	if at, known := b.finished[p.RequestID]; !known || now.Before(at) {
		b.moved++
		if !known {
			b.finished[p.RequestID] = now.Add(b.takes)
		}
	}
	if b.lost--; b.lost >= 0 {
		return nil, &prepaid.CallError{Attempts: 1, FirstSent: now, LastSent: now, NotBefore: b.NotBefore(now), Err: errCut}
	}
	return &prepaid.TransferResult{TransactionID: "7", CorrelationID: "c", RequestID: p.RequestID}, nil
}

func newSlowBank(lost int) *slowBank {
	return &slowBank{waits: waits{wait: 40 * time.Second}, takes: 39 * time.Second, lost: lost, finished: map[prepaid.RequestID]time.Time{}}
}

// A payment of unknown outcome is sent again at the recorded NotBefore, when the first attempt can no longer be in progress, by
// this process or the next.
func TestRepeatNeverOvertakesTheFirst(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j, m := openMemory(t, nil)
			b := newSlowBank(1)
			began := time.Now()
			_, err := j.Transfer(t.Context(), b, "from", payment(1))
			require.ErrorIs(t, err, errCut)
			e, _ := j.Get(payment(1).RequestID)
			require.True(t, e.NotBefore.Equal(began.Add(40*time.Second)))
			require.Zero(t, j.NotBefore(b, "another"))
			time.Sleep(15 * time.Second)
			if restarted {
				j, _ = openMemory(t, m.data)
			}
			require.True(t, j.NotBefore(b, e.RequestID).Equal(e.NotBefore))
			_, err = j.Transfer(t.Context(), b, "from", payment(1))
			require.NoError(t, err)
			require.Equal(t, 1, b.moved)
			require.Equal(t, 40*time.Second, time.Since(began), "and no later")
			e, _ = j.Get(e.RequestID)
			require.Zero(t, e.NotBefore)
			require.Zero(t, j.NotBefore(b, e.RequestID))
		})
	}
}

// A process that died leaves only the intent: the process may have sent until the file was opened again.
func TestRepeatOfAProcessThatDiedCountsFromTheLock(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} { // died in its first request or a repeat
		synctest.Test(t, func(t *testing.T) {
			j, m := openMemory(t, nil)
			b := newSlowBank(2)
			if again {
				_, err := j.Transfer(t.Context(), b, "from", payment(1))
				require.ErrorIs(t, err, errCut)
			}
			atSending := &dying{slowBank: b, file: m}
			_, err := j.Transfer(t.Context(), atSending, "from", payment(1))
			require.ErrorIs(t, err, errCut)
			died := time.Now() // for the next process, it sent until now
			b.finished[payment(1).RequestID] = died.Add(39 * time.Second)

			next, _ := openMemory(t, atSending.left)
			time.Sleep(5 * time.Second)
			b.lost, b.moved = 0, 1
			_, err = next.Transfer(t.Context(), b, "from", payment(1))
			require.NoError(t, err)
			require.Equal(t, 1, b.moved)
			require.Equal(t, 40*time.Second, time.Since(died))
		})
	}
}

// dying keeps the content of the file when its payment is sent.
type dying struct {
	*slowBank
	file *memory
	left []byte
}

func (d *dying) Transfer(ctx context.Context, from prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	d.left = slices.Clone(d.file.data)
	time.Sleep(20 * time.Second)
	return d.slowBank.Transfer(ctx, from, p)
}

// Records of a version without NotBefore are read, and wait from the opening of the file.
func TestOldRecordsAreRead(t *testing.T) {
	t.Parallel()
	const old = `{"request_id":"a","operation":"Accounts.Transfer","account_id":"from","amount":1.00,"destination":"d","params":"p",` +
		`"state":"unknown","began":"2026-11-20T01:02:03Z","changed":"2026-11-20T01:02:04Z","runs":1,"first_sent":"2026-11-20T01:02:03Z",` +
		`"last_sent":"2026-11-20T01:02:03Z","attempts":1}`
	synctest.Test(t, func(t *testing.T) { // the bubble's clock is earlier than the record, as if it had been set back
		j, m := openMemory(t, []byte(header+string(frame([]byte(old)))+old+"\n"))
		e, known := j.Get("a")
		require.True(t, known)
		require.WithinDuration(t, time.Now().Add(40*time.Second), j.NotBefore(newSlowBank(0), "a"), 0)
		time.Sleep(5 * time.Second)
		j, _ = openMemory(t, m.data)
		require.WithinDuration(t, time.Now().Add(35*time.Second), j.NotBefore(newSlowBank(0), "a"), 0, "from the first opening")
		e.LastSent, e.NotBefore = e.FirstSent, time.Time{}
		line, err := encode(e)
		require.NoError(t, err)
		require.Equal(t, string(frame([]byte(old)))+old+"\n", string(line), "its members are those that it had")
	})
}

// Workers soon send a payment that a person gave them again, although its outcome was unknown before.
func TestWorkersFindAPaymentOfAnOperator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := sealing(t, 1)
		j, _ := openMemoryWith(t, nil, options)
		b := newSlowBank(1)
		_, err := j.Transfer(t.Context(), b, "from", payment(1))
		require.ErrorIs(t, err, errCut)
		require.NoError(t, j.Resolve(payment(1).RequestID, journal.NotMoved()))
		time.Sleep(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		var workers sync.WaitGroup
		workers.Go(func() { _ = journal.Workers{Seal: options.Seal, DigestKey: options.DigestKey}.Run(ctx, j, b) })
		time.Sleep(time.Second)
		require.NoError(t, j.Retry(payment(1).RequestID))
		time.Sleep(10 * time.Second)
		stop()
		workers.Wait()
		require.Equal(t, -1, b.lost, "sent twice")
	})
}
