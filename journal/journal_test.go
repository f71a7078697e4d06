package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

var quick = Options{InFlightWait: time.Nanosecond}

// bank answers a known request id from its cache, as the service does.
type bank struct {
	mu    sync.Mutex
	paid  map[prepaid.RequestID]int
	calls int
	err   error // after the money moved
}

func (b *bank) Transfer(_ context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	b.paid[p.RequestID] = 1
	return &prepaid.TransferResult{TransactionID: "7", CorrelationID: "c", RequestID: p.RequestID}, b.err
}

func (b *bank) DirectEntryOut(context.Context, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return nil, errors.New("not used")
}

func newBank() *bank { return &bank{paid: map[prepaid.RequestID]int{}} }

func payment(n int) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(time.Now(), fmt.Sprint(n)), Amount: prepaid.Cents(100),
		SourceReference: "SECRETREF", DestinationReference: "B", DestinationAccountID: "SECRETDEST",
	}
}

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, quick)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func TestCrashAtEveryByte(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, first := open(t, path), newBank()
	for n := range 2 {
		_, err := j.Transfer(t.Context(), first, "from", payment(n))
		require.NoError(t, err)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(data), "SECRET")
	for cut := range len(data) + 1 {
		entries, good, err := scan(data[:cut])
		require.NoError(t, err)
		require.LessOrEqual(t, good, cut)
		if cut%16 > 0 { // each look at the disk costs several syncs
			continue
		}
		torn := filepath.Join(t.TempDir(), "torn")
		require.NoError(t, os.WriteFile(torn, data[:cut], 0o600))
		again := open(t, torn)
		require.Equal(t, int64(cut-good), again.Torn())
		done := 0
		for _, e := range entries {
			if e.State == StateDone {
				done++
			}
		}
		b := newBank()
		for n := range 2 {
			_, err := again.Transfer(t.Context(), b, "from", payment(n))
			require.NoError(t, err)
		}
		require.Equal(t, 2-done, b.calls)
		for range again.Pending() {
			t.Fatal("pending")
		}
		require.NoError(t, again.Close())
		again = open(t, torn)
		e, ok := again.Get(payment(1).RequestID)
		require.True(t, ok)
		require.Equal(t, StateDone, e.State)
	}
	for i := range data { // a flipped bit is never read as a record
		data[i] ^= 4
		entries, _, err := scan(data)
		require.True(t, errors.Is(err, ErrCorrupt) || len(entries) == 3, i)
		data[i] ^= 4
	}
}

func TestPay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, b := open(t, path), newBank()
	_, err := Open(path, quick)
	require.ErrorIs(t, err, ErrLocked)

	b.err = errors.New("cut off")
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	b.err = &prepaid.CallError{Outcome: prepaid.OutcomeRejected} // unknown is sticky
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))

	changed := payment(1)
	changed.Amount = prepaid.Cents(200)
	_, err = j.Transfer(t.Context(), b, "from", changed)
	require.ErrorIs(t, err, ErrChanged)
	require.ErrorContains(t, err, "amount")
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))

	b.err = nil
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			result, err := j.Transfer(t.Context(), b, "from", payment(1))
			require.NoError(t, err)
			require.Equal(t, prepaid.TransactionID("7"), result.TransactionID)
		})
	}
	wg.Wait()
	require.Equal(t, 3, b.calls)

	old := payment(2)
	e := Entry{RequestID: old.RequestID, Operation: "Accounts.Transfer", AccountID: "from", Amount: old.Amount, State: StateUnknown,
		Destination: j.digest(old.DestinationAccountID), Params: j.digest(old), Began: time.Now().Add(-window - time.Hour)}
	require.NoError(t, j.record(e))
	_, err = j.Transfer(t.Context(), b, "from", old)
	require.ErrorIs(t, err, ErrWindow)
	require.Equal(t, 3, b.calls)
}

// disk counts syncs, and is full after some writes.
type disk struct {
	file
	syncs atomic.Int32
	left  int
}

func (d *disk) Write(p []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("disk full")
	}
	return d.file.Write(p)
}

func (d *disk) Sync() error { d.syncs.Add(1); time.Sleep(5 * time.Millisecond); return d.file.Sync() }

func TestDiskFullAndGroupCommit(t *testing.T) {
	t.Parallel()
	j, b := open(t, filepath.Join(t.TempDir(), "j")), newBank()
	d := &disk{file: j.file, left: 1 << 20}
	j.file = d
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			_, err := j.Transfer(t.Context(), b, "from", payment(n))
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.Less(t, d.syncs.Load(), int32(100), "200 records")

	d.left = 1 // the intent fits, the outcome does not
	result, err := j.Transfer(t.Context(), b, "from", payment(200))
	require.ErrorIs(t, err, ErrNotRecorded)
	require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
	require.NotNil(t, result)
	calls := b.calls
	d.left = 9
	_, err = j.Transfer(t.Context(), b, "from", payment(201))
	require.ErrorIs(t, err, ErrNotRecorded)
	require.Equal(t, calls, b.calls, "nothing is sent any more")
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(header))
	f.Add([]byte(header + "00000000 00000002 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, good, err := scan(data)
		require.True(t, err != nil || good <= len(data))
	})
}

func ExampleJournal_Transfer() {
	srv, err := prepaidtest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := prepaid.AccountID(srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}))
	to := prepaid.AccountID(srv.AddAccount(prepaidtest.SeedAccount{}))
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	params := prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(time.Now(), "payroll", "emp-7"), Amount: prepaid.Cents(2550),
		SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: to,
	}
	for range 2 { // the second run finds it done
		j, err := Open(filepath.Join(dir, "payments"), Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = j.Transfer(context.Background(), srv.Client().Accounts, from, params)
		fmt.Println(err, srv.Balance(string(from)), srv.Movements(string(params.RequestID)))
		_ = j.Close()
	}
	// Output:
	// <nil> 74.50 1
	// <nil> 74.50 1
}
