package prepaidpg

import (
	"errors"
	"iter"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func salary(id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: id, Amount: prepaid.MustAmount("12.34"), SourceReference: "November", DestinationReference: "Salary",
		DestinationAccountID: "SECRET-EAID",
	}
}

// each yields the payments of a list.
func each(list ...journal.Payment) iter.Seq2[journal.Payment, error] {
	return func(yield func(journal.Payment, error) bool) {
		for _, p := range list {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// payroll has n payments of today's run.
func payroll(run string, n int) iter.Seq2[journal.Payment, error] {
	day := prepaid.DateOf(time.Now().UTC())
	return func(yield func(journal.Payment, error) bool) {
		for i := range n {
			if !yield(journal.Payment{Account: "float", Params: salary(prepaid.DeriveRequestID(day, run, strconv.Itoa(i)))}, nil) {
				return
			}
		}
	}
}

// batch commits a batch on its own.
func (s testStore) batch(payments iter.Seq2[journal.Payment, error]) (added int, err error) {
	err = s.in(func(tx pgx.Tx) error {
		added, err = s.EnqueueBatch(s.t.Context(), tx, payments)
		return err
	})
	return added, err
}

func (s testStore) payments() (list []journal.Entry) {
	s.t.Helper()
	for e, err := range s.All(s.t.Context()) {
		require.NoError(s.t, err)
		list = append(list, e)
	}
	return list
}

func TestEnqueueBatch(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	added, err := s.batch(payroll("a", 2500))
	require.NoError(t, err)
	require.Equal(t, 2500, added)
	require.Equal(t, "2500", text(t, s.pool, "select count(*)::text from prepaid.history where event = 'enqueue' and state = 'queued'"))

	// Like Enqueue, one by one.
	single := newStore(t)
	require.NoError(t, single.in(func(tx pgx.Tx) error {
		for p := range payroll("a", 3) {
			if err := single.Enqueue(t.Context(), tx, p.Account, p.Params); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, want := range single.payments() {
		got, err := s.Get(t.Context(), want.RequestID)
		require.NoError(t, err)
		got.Changed = want.Changed
		require.Equal(t, want, got)
	}

	added, err = s.batch(payroll("a", 2503))
	require.NoError(t, err)
	require.Equal(t, 3, added, "the others are known")
	added, err = s.batch(func(yield func(journal.Payment, error) bool) {
		for range 2 {
			payroll("b", 1200)(yield)
		}
	})
	require.NoError(t, err)
	require.Equal(t, 1200, added, "each occurs twice")
	added, err = s.batch(payroll("", 0))
	require.NoError(t, err)
	require.Zero(t, added)
}

// Nothing remains of a batch that is rolled back or has a fault, and the caller's transaction goes on.
func TestEnqueueBatchAllOrNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		return s.Enqueue(t.Context(), tx, "float", salary("known"))
	}))
	cancelled := errors.New("the caller's own")
	require.Equal(t, cancelled, s.in(func(tx pgx.Tx) error {
		added, err := s.EnqueueBatch(t.Context(), tx, payroll("a", 1001))
		require.NoError(t, err)
		require.Equal(t, 1001, added)
		return cancelled
	}))

	var list []journal.Payment
	for p := range payroll("a", 1500) {
		list = append(list, p)
	}
	day := prepaid.DateOf(time.Now().UTC())
	bad, other, twice := salary(prepaid.DeriveRequestID(day, "bad")), salary("known"), salary("twice")
	bad.SourceReference, bad.Amount, other.Amount = "", prepaid.Amount{}, prepaid.MustAmount("99.99")
	list[3].Params, list[1010].Params = bad, other
	list[1020].Params, list[1030].Params = twice, other
	twice.DestinationReference = "SECRET"
	list[1040].Params = twice
	list[1050].Params = salary(prepaid.DeriveRequestID(prepaid.Date{Year: 2020, Month: 1, Day: 1}, "old"))
	list[1060] = journal.Payment{Account: "float"}
	list[1070].Params = &bad
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		added, err := s.EnqueueBatch(t.Context(), tx, each(list...))
		require.Zero(t, added)
		refused, ok := errors.AsType[*BatchError](err)
		require.True(t, ok, "%v", err)
		indexes := make([]int, 0, len(refused.Faults))
		for _, fault := range refused.Faults {
			indexes = append(indexes, fault.Index)
		}
		require.Equal(t, []int{3, 1010, 1030, 1040, 1050, 1060, 1070}, indexes)
		require.Equal(t, bad.RequestID, refused.Faults[0].RequestID)
		require.Equal(t, prepaid.RequestID("known"), refused.Faults[1].RequestID)
		invalid, ok := errors.AsType[*prepaid.ValidationError](refused.Faults[0].Err)
		require.True(t, ok)
		require.Len(t, invalid.Faults, 2)
		require.Equal(t, "amount", invalid.Faults[0].Field)
		changed, ok := errors.AsType[*journal.ChangedError](refused.Faults[1].Err)
		require.True(t, ok)
		require.Equal(t, []string{"amount"}, changed.Fields)
		require.ErrorIs(t, refused.Faults[2].Err, journal.ErrChanged)
		require.ErrorIs(t, refused.Faults[3].Err, journal.ErrChanged)
		require.ErrorIs(t, refused.Faults[4].Err, prepaid.ErrRequestIDExpired)
		require.ErrorIs(t, err, journal.ErrChanged)
		require.ErrorContains(t, err, "prepaidpg: batch refused: 7 payments, the first is number 3: ")
		require.NotContains(t, err.Error(), "SECRET")
		return s.Enqueue(t.Context(), tx, "float", salary("own"))
	}))
	var ids []prepaid.RequestID
	for _, e := range s.payments() {
		ids = append(ids, e.RequestID)
	}
	require.Equal(t, []prepaid.RequestID{"known", "own"}, ids)
	require.Equal(t, "2", text(t, s.pool, "select count(*)::text from prepaid.history"))
}

func TestEnqueueBatchStopsReading(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, err := s.batch(payroll("a", 500))
	require.NoError(t, err)
	read := 0
	for _, batch := range []iter.Seq2[journal.Payment, error]{
		func(yield func(journal.Payment, error) bool) {
			for yield(journal.Payment{}, nil) {
				read++
			}
		},
		func(yield func(journal.Payment, error) bool) { // the faults of one statement
			for p := range payroll("a", 500) {
				p.Account = "another"
				yield(p, nil)
			}
		},
	} {
		_, err = s.batch(batch)
		refused, ok := errors.AsType[*BatchError](err)
		require.True(t, ok)
		require.Len(t, refused.Faults, 100)
	}
	require.Equal(t, 99, read)
}

// Two batches with the same payments at the same time add each once.
func TestEnqueueBatchesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	added := make(chan int)
	for range 3 {
		go func() {
			n, err := s.batch(payroll("a", 3000))
			if err != nil {
				t.Error(err)
			}
			added <- n
		}()
	}
	require.Equal(t, 3000, <-added+<-added+<-added)
}

func TestEnqueueBatchMemory(t *testing.T) { //nolint:paralleltest // it measures the heap, which all tests share
	s := newStore(t)
	var most uint64
	heap := func() uint64 {
		runtime.GC() //nolint:revive // what is live is measured
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	added, err := s.batch(func(yield func(journal.Payment, error) bool) {
		i := 0
		for p := range payroll("a", 12_000) {
			if i++; i%5999 == 0 {
				most = max(most, heap())
			}
			if !yield(p, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, 12_000, added)
	require.Less(t, float64(most)-float64(before), 16e6)
}

// If a trigger of the database's owner drops a payment, the batch is refused, not silently smaller.
func TestEnqueueBatchDropped(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec(`create function prepaid.dropped() returns trigger language plpgsql as 'begin return null; end';
		create trigger dropped before insert on prepaid.payments for each row when (new.account_id = 'dropped')
		execute function prepaid.dropped()`)
	_, err := s.batch(each(journal.Payment{Account: "float", Params: transfer("a")}, journal.Payment{Account: "dropped", Params: transfer("b")}))
	require.Error(t, err)
	require.Empty(t, s.payments())
}

func TestEnqueueBatchDatabaseError(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("alter table prepaid.payments add check (account_id <> 'SECRET')")
	_, err := s.batch(each(journal.Payment{Account: "SECRET", Params: salary("a")}))
	require.ErrorContains(t, err, "prepaidpg: enqueue: ")
	require.NotContains(t, err.Error(), "SECRET")
	require.Empty(t, s.payments())
}

// If the source of a batch fails, nothing is added.
func TestEnqueueBatchWithoutItsEnd(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	unreadable := errors.New("line 1501 has no amount")
	added, err := s.batch(func(yield func(journal.Payment, error) bool) {
		for p := range payroll("a", 1500) {
			if !yield(p, nil) {
				return
			}
		}
		yield(journal.Payment{}, unreadable)
	})
	require.ErrorIs(t, err, unreadable)
	require.Zero(t, added)
	require.Empty(t, s.payments())
}
