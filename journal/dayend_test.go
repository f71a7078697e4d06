package journal_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// ledger is a service with one paying account. It responds to a known request id from its cache, and has a history.
type ledger struct {
	journal.Sender // no payments to banks

	made   map[prepaid.RequestID]prepaid.TransactionID
	booked []prepaid.Transaction
	lost   bool // the responses
}

func (l *ledger) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(time.Millisecond) }

func (l *ledger) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	return pause.For(ctx, time.Until(l.NotBefore(lastSent)))
}

var errLost = errors.New("response lost")

func (l *ledger) Transfer(_ context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	if l.made[p.RequestID] == "" {
		l.made[p.RequestID] = l.book(p.Amount)
	}
	if l.lost {
		return nil, &prepaid.CallError{FirstSent: time.Now(), LastSent: time.Now(), Attempts: 1, Err: errLost}
	}
	return &prepaid.TransferResult{TransactionID: l.made[p.RequestID], CorrelationID: "c", RequestID: p.RequestID}, nil
}

func (l *ledger) book(amount prepaid.Amount) prepaid.TransactionID {
	id := prepaid.TransactionID(strconv.Itoa(101 + len(l.booked)))
	l.booked = append(l.booked, prepaid.Transaction{ID: id, Amount: amount.Neg(), OccurredAt: time.Now()})
	return id
}

func (l *ledger) Transactions(_ context.Context, _ prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error] {
	return func(yield func(*prepaid.Transaction, error) bool) {
		for _, t := range l.booked {
			if !t.OccurredAt.Before(params.From) && t.OccurredAt.Before(params.Before) && !yield(&t, nil) {
				return
			}
		}
	}
}

// forget removes a transaction from the history.
func (l *ledger) forget(id prepaid.RequestID) {
	for i, t := range l.booked {
		if t.ID == l.made[id] {
			l.booked[i].OccurredAt = time.Time{}
		}
	}
}

// days runs a test that starts an hour before midnight. findings are those of that day and of the next.
func days(t *testing.T, test func(t *testing.T, l *ledger, pay func(prepaid.RequestID), findings func() [2][]string)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{made: map[prepaid.RequestID]prepaid.TransactionID{}}
		j, err := journal.Open(filepath.Join(t.TempDir(), "j"), journal.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Close()) }()
		midnight := time.Now().Add(time.Hour)
		pay := func(id prepaid.RequestID) {
			_, err := j.Transfer(t.Context(), l, "payer", prepaid.TransferParams{RequestID: id, Amount: prepaid.Cents(2550)})
			if l.lost {
				require.ErrorIs(t, err, errLost)
				return
			}
			require.NoError(t, err)
		}
		test(t, l, pay, func() (found [2][]string) {
			for i := range found {
				first := midnight.AddDate(0, 0, i-1)
				found[i], err = dayEnd(t.Context(), l, j, "payer", first, first.AddDate(0, 0, 1))
				require.NoError(t, err)
			}
			return found
		})
	})
}

func TestDayEndOfADoubtSettledAfterMidnight(t *testing.T) {
	days(t, func(t *testing.T, l *ledger, pay func(prepaid.RequestID), findings func() [2][]string) {
		l.lost = true
		pay("emp-7")
		pay("emp-8")
		l.lost = false
		time.Sleep(2 * time.Hour)
		pay("emp-7")
		require.Equal(t, [2][]string{
			{"emp-8 is unknown: run it again", "transaction 102 is not in the journal"},
			{"emp-8 is unknown: run it again"},
		}, findings())
		l.lost = true
		pay("emp-9")
		require.Len(t, findings()[0], 2, "what began later is no matter of this day")
		l.lost = false
		pay("emp-9")
		pay("emp-8")
		require.Empty(t, findings()[0])
		require.Empty(t, findings()[1])

		l.forget("emp-7")
		require.Equal(t, [2][]string{nil, {"emp-7 was paid and is not in the history"}}, findings(), "on the day it was settled")
	})
}

// The clock of the service is ahead or behind: it books a payment around midnight on the other day.
func TestDayEndOfAPaymentBookedOnTheOtherDay(t *testing.T) {
	days(t, func(t *testing.T, l *ledger, pay func(prepaid.RequestID), findings func() [2][]string) {
		time.Sleep(time.Hour - time.Second)
		pay("emp-7")
		l.booked[0].OccurredAt = time.Now().Add(time.Minute)
		time.Sleep(2 * time.Second)
		pay("emp-8")
		l.booked[1].OccurredAt = time.Now().Add(-time.Minute)
		require.Equal(t, [2][]string{}, findings())
	})
}

func TestDayEndSaysEachThingOnce(t *testing.T) {
	days(t, func(t *testing.T, l *ledger, pay func(prepaid.RequestID), findings func() [2][]string) {
		pay("emp-7")
		pay("emp-8")
		l.book(prepaid.Cents(300))
		l.booked[0].Amount = prepaid.Cents(-2600)
		l.forget("emp-8")
		time.Sleep(2 * time.Hour)
		l.lost = true
		pay("emp-9")
		require.Equal(t, [2][]string{
			{"emp-7 was paid with another amount", "emp-8 was paid and is not in the history", "transaction 103 is not in the journal"},
			{"emp-9 is unknown: run it again", "transaction 104 is not in the journal"},
		}, findings())
	})
}

func TestDayEndLeavesOtherPayersAlone(t *testing.T) {
	t.Parallel()
	l := &ledger{made: map[prepaid.RequestID]prepaid.TransactionID{}}
	j, err := journal.Open(filepath.Join(t.TempDir(), "j"), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	_, err = j.Transfer(t.Context(), l, "other", prepaid.TransferParams{RequestID: "emp-7", Amount: prepaid.Cents(2550)})
	require.NoError(t, err)
	l.booked = nil
	now := time.Now()
	findings, err := dayEnd(t.Context(), l, j, "payer", now.Add(-time.Hour), now.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, findings)
}
