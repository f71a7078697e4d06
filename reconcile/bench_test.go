package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const (
	benchRows     = 1_000_000
	benchAccounts = 1_000
)

// bulk is a service, and its books, which need no memory. Of 1,000 payments one has no row, and ten rows have no ID.
type bulk struct{ start time.Time }

func (bulk) id(n int) string { return "EA" + strconv.Itoa(10_000_000+n%benchAccounts) }

func (b bulk) Transactions(_ context.Context, id prepaid.AccountID, _ prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error] {
	return func(yield func(*prepaid.Transaction, error) bool) {
		account, _ := strconv.Atoi(string(id[2:]))
		for n := account - 10_000_000; n < benchRows; n += benchAccounts {
			t := prepaid.Transaction{
				ID: prepaid.TransactionID(strconv.Itoa(100_000_000 + n)), AccountID: id, Type: "2951", Amount: prepaid.Cents(int64(-100 - n%5000)),
				OccurredAt: b.start.Add(time.Duration(n) * time.Second),
			}
			if !yield(&t, nil) {
				return
			}
		}
	}
}

func (b bulk) books(yield func(Row, error) bool) {
	for i := range benchRows {
		n := i * 7919 % benchRows // in no order
		at := b.start.Add(time.Duration(n) * time.Second)
		r := Row{
			RequestID: prepaid.RequestID(fmt.Sprintf("20261120-7064-8984-96cd-%012d", n)), AccountID: prepaid.AccountID(b.id(n)),
			TransactionID: prepaid.TransactionID(strconv.Itoa(100_000_000 + n)), Amount: prepaid.Cents(int64(-100 - n%5000)),
			From: at, To: at.Add(time.Second), Expected: ExpectedPaid,
		}
		if n/benchAccounts%100 == 0 {
			r.TransactionID = ""
		}
		if n/benchAccounts != 1 && !yield(r, nil) {
			return
		}
	}
}

// mergeJoin is the baseline: it reads everything into memory, sorts both sides, and joins them by ID.
func mergeJoin(b *testing.B, service bulk) (matched int) {
	var rows []Row
	for row, err := range service.books {
		require.NoError(b, err)
		rows = append(rows, row)
	}
	var items []Item
	for n := range benchAccounts {
		for t, err := range service.Transactions(b.Context(), prepaid.AccountID(service.id(n)), prepaid.ListTransactionsParams{}) {
			require.NoError(b, err)
			items = append(items, Item{t.ID, t.AccountID, t.Type, t.Amount, t.OccurredAt})
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.TransactionID, b.TransactionID))
	})
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.TransactionID, b.TransactionID))
	})
	for len(rows) > 0 && len(items) > 0 {
		switch order := cmp.Or(cmp.Compare(rows[0].AccountID, items[0].AccountID), cmp.Compare(rows[0].TransactionID, items[0].TransactionID)); {
		case order < 0:
			rows = rows[1:]
		case order > 0:
			items = items[1:]
		default:
			if rows[0].Amount == items[0].Amount {
				matched++
			}
			rows, items = rows[1:], items[1:]
		}
	}
	return matched
}

// BenchmarkMillion compares a million rows with 1,000 accounts, next to a plain merge join.
func BenchmarkMillion(b *testing.B) {
	service, speed := bulk{time.Now().AddDate(-1, 0, 0).UTC()}, [2]float64{}
	for i, c := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"merge join", func(b *testing.B) { require.Equal(b, 989_000, mergeJoin(b, service)) }},
		{"run", func(b *testing.B) {
			kinds := map[Kind]int{}
			run := Run{Books: service.books, Histories: service, Directory: b.TempDir()}
			for f, err := range run.Findings(b.Context()) {
				require.NoError(b, err)
				kinds[f.Kind]++
			}
			require.Equal(b, map[Kind]int{KindMatched: 999_000, KindServiceOnly: 1_000}, kinds)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			debug.FreeOSMemory()
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) // the maximum begins again
			for b.Loop() {
				c.run(b)
			}
			speed[i] = benchRows * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(speed[i], "rows/s")
			b.ReportMetric(float64(resident()), "MB")
			if i > 0 {
				b.ReportMetric(speed[1]/speed[0], "ratio")
			}
		})
	}
}

// resident returns the maximum resident memory of the process; 0 if unknown.
func resident() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kilobytes, _ := strconv.Atoi(string(number))
	return kilobytes / 1000
}
