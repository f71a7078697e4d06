package reconcile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBroken = errors.New("history broke off")

// service has histories in memory, in any order.
type service struct {
	mu    sync.Mutex
	items map[prepaid.AccountID][]prepaid.Transaction
	after map[prepaid.AccountID]int       // the history breaks off after so many items
	asked map[prepaid.AccountID]time.Time // the last From
	reads int
	begun func(prepaid.AccountID) // before a history is read
}

func (s *service) Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error] {
	return func(yield func(*prepaid.Transaction, error) bool) {
		if s.begun != nil {
			s.begun(id)
		}
		s.mu.Lock()
		s.reads++
		if s.asked == nil {
			s.asked = map[prepaid.AccountID]time.Time{}
		}
		s.asked[id] = params.From
		items := s.items[id]
		after, breaks := s.after[id]
		s.mu.Unlock()
		for i := range items {
			if breaks && i >= after || ctx.Err() != nil {
				break
			}
			if !items[i].OccurredAt.Before(params.From) && !yield(&items[i], nil) {
				return
			}
		}
		if breaks || ctx.Err() != nil {
			yield(nil, errors.Join(errBroken, ctx.Err()))
		}
	}
}

// books iterates over rows.
func books(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// ago is a time before now, which is midnight in a bubble of synctest.
func ago(d time.Duration) time.Time {
	return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Add(-d)
}

// row has the account "A" unless request begins with another capital letter.
func row(request, id, amount string, d time.Duration, expected Expected) Row {
	return Row{
		RequestID: prepaid.RequestID(request), TransactionID: prepaid.TransactionID(id), AccountID: accountOf(request),
		Amount: prepaid.MustAmount(amount), From: ago(d), Expected: expected,
	}
}

func accountOf(name string) prepaid.AccountID {
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return prepaid.AccountID(name[:1])
	}
	return "A"
}

func item(id, amount string, d time.Duration) prepaid.Transaction {
	return prepaid.Transaction{
		ID: prepaid.TransactionID(id), AccountID: accountOf(id), Type: prepaid.TransactionTypeLoad, Amount: prepaid.MustAmount(amount),
		OccurredAt: ago(d),
	}
}

func histories(items ...prepaid.Transaction) *service {
	s := &service{items: map[prepaid.AccountID][]prepaid.Transaction{}}
	for _, item := range items {
		s.items[item.AccountID] = append(s.items[item.AccountID], item)
	}
	return s
}

// String is a finding such as "matched: r1 = 7".
func (f Finding) String() string {
	var rows, items []string
	for _, row := range f.Rows {
		rows = append(rows, string(row.RequestID))
	}
	for _, item := range f.Items {
		items = append(items, string(item.TransactionID))
	}
	slices.Sort(rows)
	slices.Sort(items)
	sign := "="
	if f.ByAmount {
		sign = "~"
	}
	return fmt.Sprintf("%s: %s %s %s", f.Kind, strings.Join(rows, " "), sign, strings.Join(items, " "))
}

// all returns the findings in words, sorted, and the accounts that failed.
func all(t *testing.T, r *Run) (found []string, failed []prepaid.AccountID) {
	t.Helper()
	for finding, err := range r.Findings(t.Context()) {
		if account, ok := errors.AsType[*AccountError](err); ok {
			failed = append(failed, account.AccountID)
			continue
		}
		require.NoError(t, err)
		require.False(t, finding.CompleteTo.IsZero())
		found = append(found, finding.String())
	}
	_, complete := r.Checkpoint()
	require.True(t, complete)
	slices.Sort(found)
	return found, failed
}

// count counts the findings of each kind. No account fails.
func count(t *testing.T, r *Run) map[Kind]int {
	t.Helper()
	kinds := map[Kind]int{}
	for finding, err := range r.Findings(t.Context()) {
		require.NoError(t, err)
		kinds[finding.Kind]++
	}
	return kinds
}

func bubble(t *testing.T, test func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, test)
}

const (
	paid, notPaid, unknown, running = ExpectedPaid, ExpectedNotPaid, ExpectedUnknown, ExpectedInProgress
	hour, minute                    = time.Hour, time.Minute
)

func report(items []prepaid.Transaction) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, t := range items {
			if !yield(Item{t.ID, t.AccountID, t.Type, t.Amount, t.OccurredAt}, nil) {
				return
			}
		}
	}
}
