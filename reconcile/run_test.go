package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A history that breaks off gives no finding. The next run reads it from the same time.
func TestHistoryBreaksOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := histories(item("A1", "-1", 9*hour), item("A2", "-2", 9*hour), item("B1", "-1", 9*hour), item("C1", "-1", 9*hour), item("C2", "-1", 9*hour))
		rows := []Row{
			row("A1", "A1", "-1", 9*hour, paid), row("A2", "A2", "-9", 9*hour, paid), row("B1", "B1", "-1", 9*hour, paid),
			row("C1", "C1", "-1", 9*hour, paid), row("C3", "C3", "-3", 9*hour, paid),
		}
		s.after = map[prepaid.AccountID]int{"A": 1, "C": 0}
		var progress Progress
		run := Run{Books: books(rows), Histories: s, Concurrency: 2, OnProgress: func(p Progress) { progress = p }}
		for err, want := range map[error]bool{errBroken: true, errors.ErrUnsupported: false} {
			for _, got := range run.Findings(t.Context()) {
				if got != nil {
					require.Equal(t, want, errors.Is(got, err))
					require.NotContains(t, got.Error(), "A1")
				}
			}
		}
		found, failed := all(t, &run)
		require.Equal(t, []string{"matched: B1 = B1"}, found)
		require.Equal(t, []prepaid.AccountID{"A", "C"}, failed)
		require.Equal(t, Progress{Accounts: 3, Done: 3, Rows: 5, Items: 2}, progress)

		checkpoint, _ := run.Checkpoint()
		require.Equal(t, Checkpoint{To: ago(9*hour + 12*minute), Failed: map[prepaid.AccountID]time.Time{"A": {}, "C": {}}}, checkpoint)
		stored, err := json.Marshal(checkpoint)
		require.NoError(t, err)
		var since Checkpoint
		require.NoError(t, json.Unmarshal(stored, &since))
		time.Sleep(24 * hour)
		delete(s.after, "C")
		since.Open = map[prepaid.AccountID]time.Time{"D": ago(9 * hour)}
		found, failed = all(t, &Run{Books: books(rows), Histories: s, Since: since})
		require.Equal(t, []string{"books only: C3 = ", "matched: B1 = B1", "matched: C1 = C1", "twice: C1 = C2"}, found, "no newer item proves that B1 was decided")
		require.Equal(t, []prepaid.AccountID{"A"}, failed)
		require.Equal(t, map[prepaid.AccountID]time.Time{"A": {}, "B": ago(10*hour + 12*minute), "C": {}, "D": ago(10*hour + 12*minute)}, s.asked)
	})
}

// Nights of equal payments: the service's clock differs, items appear late, payments are made while a run reads, and histories break off.
// The last finding of each row and item is the one of a run that sees everything. No earlier run reports another difference,
// except about payments that are in progress for more than a day, and with a clock that is ahead.
func TestNights(t *testing.T) {
	for seed := range uint64(18) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			bubble(t, func(t *testing.T) { nights(t, rand.New(rand.NewPCG(seed, 1)), seed%3 > 0) })
		})
	}
}

// payment is in the books from row.From on, and final from row.To on. The money moves in between.
type payment struct {
	row           Row
	item          prepaid.Transaction
	visible       time.Time
	noRow, noItem bool
}

func nights(t *testing.T, random *rand.Rand, troubled bool) {
	const days = 4
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	skew := upTo(4*minute) - 2*minute
	var made []payment
	for n := range 360 {
		id := fmt.Sprintf("%c%d", 'A'+n%3, n)
		start := time.Now().Add(time.Duration(random.IntN(4*days))*6*hour + upTo(hour)) // in bursts
		p := payment{noRow: random.IntN(9) == 0, noItem: random.IntN(9) == 0}
		p.row = row(id, "", fmt.Sprint(-1-random.IntN(4)), 0, []Expected{paid, paid, unknown, notPaid}[random.IntN(4)])
		p.row.From, p.row.To = start, start.Add(upTo(3*minute))
		if troubled && random.IntN(30) == 0 {
			p.row.To = start.Add(upTo(48 * hour))
		}
		moved := start.Add(upTo(p.row.To.Sub(start)))
		p.visible = moved.Add(upTo(10 * minute))
		p.item = item(id+"i", p.row.Amount.String(), 0)
		p.item.OccurredAt = moved.Add(skew)
		if random.IntN(2) == 0 {
			p.row.TransactionID = p.item.ID
		}
		if random.IntN(20) == 0 {
			p.item.Amount = prepaid.Cents(-150)
		}
		made = append(made, p)
	}
	ahead := time.Duration(0) // the clock of a run
	s := histories()
	s.begun = func(id prepaid.AccountID) {
		time.Sleep(time.Minute) // payments go on
		s.mu.Lock()
		defer s.mu.Unlock()
		s.items[id] = nil
		for _, p := range made {
			if p.item.AccountID == id && !p.noItem && !p.visible.After(time.Now().Add(-ahead)) {
				s.items[id] = append(s.items[id], p.item)
			}
		}
	}
	snapshot := func(yield func(Row, error) bool) {
		now := time.Now().Add(-ahead)
		for _, p := range made {
			if p.row.To.After(now) {
				p.row.Expected, p.row.TransactionID, p.row.To = running, "", time.Time{}
			}
			if !p.noRow && !p.row.From.After(now) && !yield(p.row, nil) {
				return
			}
		}
	}
	want, last := map[string]string{}, map[string]string{}
	for account := range 3 {
		var rows []Row
		var items []prepaid.Transaction
		for n := account; n < len(made); n += 3 {
			if p := made[n]; !p.noRow {
				rows = append(rows, p.row)
			}
			if p := made[n]; !p.noItem {
				items = append(items, p.item)
			}
		}
		for _, finding := range oracle(rows, items) {
			kind, names := namesOf(finding)
			for _, name := range names {
				want[name] = kind
			}
		}
	}
	var since Checkpoint
	for night := range 2*days + 6 {
		time.Sleep(12*hour + upTo(hour))
		s.after, ahead = map[prepaid.AccountID]int{}, 0
		if night < 2*days && random.IntN(2) == 0 {
			s.after[accountOf("ABC"[random.IntN(3):])] = random.IntN(9)
		}
		if troubled && night < 2*days && random.IntN(4) == 0 {
			ahead = 3 * hour
		}
		run := Run{Books: snapshot, Histories: s, Since: since, Overlap: time.Duration(1+random.IntN(60)) * minute, Concurrency: 1 + random.IntN(5)}
		found, _ := all(t, &run)
		for _, finding := range found {
			kind, names := namesOf(finding)
			for _, name := range names {
				require.True(t, troubled || kind == "too early" || kind == want[name], "night %d: %s: %s", night, finding, want[name])
				last[name] = kind
			}
		}
		since, _ = run.Checkpoint()
	}
	require.Equal(t, want, last)
}

// namesOf returns the kind of a finding, and its rows and items. The row of a second payment has its own finding.
func namesOf(finding string) (kind string, names []string) {
	kind, rest, _ := strings.Cut(finding, ":")
	if kind == "twice" {
		_, rest, _ = strings.Cut(rest, "=")
	}
	return kind, slices.DeleteFunc(strings.Fields(rest), func(name string) bool { return name == "=" || name == "~" })
}

// A run with a checkpoint reads new items only. Older rows explain what it reads again, and a row that changed extends the
// history that it reads.
func TestCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := histories(item("1", "-1", 9*hour), item("2", "-1", 4*hour+50*minute), item("3", "-3", 4*hour+30*minute), item("4", "-4", hour))
		rows := []Row{
			row("r1", "1", "-1", 9*hour, paid), row("r2", "2", "-1", 4*hour+50*minute, paid), row("r0", "0", "-1", 5*hour+5*minute, paid),
			row("r3", "3", "-3", 4*hour+30*minute, paid), row("r4", "4", "-4", hour, paid),
		}
		since := Checkpoint{To: ago(4 * hour)}
		found, _ := all(t, &Run{Books: books(rows), Histories: s, Since: since})
		require.Equal(t, []string{"matched: r2 = 2", "matched: r3 = 3", "matched: r4 = 4"}, found)
		require.Equal(t, ago(5*hour+7*minute), s.asked["A"], "the period of r0")

		changed := row("r9", "", "-1", 9*hour+minute, unknown)
		changed.To = ago(3 * hour)
		found, _ = all(t, &Run{Books: books(append(rows, changed)), Histories: s, Since: since})
		require.Equal(t, []string{"books only: r9 = ", "matched: r2 = 2", "matched: r3 = 3", "matched: r4 = 4"}, found, "1 and 2 have rows")
		require.Equal(t, ago(9*hour+3*minute), s.asked["A"])

		found, _ = all(t, &Run{Books: books(rows), Histories: s, Since: since, Overlap: 25 * minute})
		require.Equal(t, []string{"matched: r4 = 4"}, found)

		found, _ = all(t, &Run{Books: books(rows), Histories: s, Since: since, BooksAsOf: ago(hour)})
		require.Contains(t, found, "matched: r4 = 4")
		run := Run{Books: books(rows[:4]), Histories: s, BooksAsOf: ago(hour + 15*minute)}
		found, _ = all(t, &run)
		require.Contains(t, found, "too early:  = 4", "it may have a row now")
		checkpoint, _ := run.Checkpoint()
		require.Equal(t, ago(hour+17*minute), checkpoint.To)
	})
}

// The period of a report bounds what it shows.
func TestReportPeriod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rows := []Row{
			row("r1", "1", "-1", 9*hour, paid), row("r2", "2", "-2", 5*hour, paid), row("r3", "3", "-3", 4*hour, paid), row("B", "", "-4", 5*hour, paid),
			row("r5", "", "-5", 8*hour-minute, paid), row("r6", "6", "-6", 7*hour, paid), row("r8", "", "-8", 7*hour, paid),
		}
		rows[5].To, rows[6].To = ago(3*hour), ago(3*hour)
		run := Run{Books: books(rows), Report: report([]prepaid.Transaction{item("9", "-1", 5*hour), item("B7", "-4", 5*hour), item("5", "-5", 8*hour-minute), item("8", "-8", 6*hour)}), ReportFrom: ago(8 * hour), ReportTo: ago(4 * hour)}
		found, _ := all(t, &run)
		require.Equal(t, []string{"ambiguous: r5 = 5", "ambiguous: r8 = 8", "books only: r2 = ", "matched: B ~ B7", "service only:  = 9", "too early: r3 = ", "too early: r6 = "}, found)
		since, _ := run.Checkpoint()
		next, _ := all(t, &Run{Books: books(rows), Report: report(nil), ReportFrom: ago(5 * hour), ReportTo: ago(hour), Since: since})
		require.Equal(t, []string{"books only: r3 = ", "books only: r6 = ", "books only: r8 = "}, next, "no report has the periods of r6 and r8")
		for f, err := range run.Findings(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, []time.Time{ago(8 * hour), ago(4 * hour)}, []time.Time{f.From, f.CompleteTo})
		}
		run.Report = func(yield func(Item, error) bool) { yield(Item{}, errBroken) }
		_, err := first(t, &run)
		require.ErrorIs(t, err, errBroken)
	})
}

func first(t *testing.T, r *Run) (Finding, error) {
	t.Helper()
	for f, err := range r.Findings(t.Context()) {
		return f, err
	}
	return Finding{}, nil
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	rows, s := []Row{row("r", "", "-1", hour, paid), row("B", "", "-1", hour, paid)}, histories()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		gone bool
		run  Run
		want error
	}{
		"no books":       {run: Run{Histories: s}, want: ErrRun},
		"no service":     {run: Run{Books: books(rows)}, want: ErrRun},
		"two services":   {run: Run{Books: books(rows), Histories: s, Report: report(nil), ReportFrom: ago(hour), ReportTo: ago(0)}, want: ErrRun},
		"no period":      {run: Run{Books: books(rows), Report: report(nil)}, want: ErrRun},
		"negative":       {run: Run{Books: books(rows), Histories: s, Late: -1}, want: ErrRun},
		"books":          {run: Run{Books: func(yield func(Row, error) bool) { yield(Row{}, errBroken) }, Histories: s}, want: errBroken},
		"no account":     {run: Run{Books: books([]Row{{From: ago(0)}}), Histories: s}, want: ErrRow},
		"no time":        {run: Run{Books: books([]Row{{AccountID: "A"}}), Histories: s}, want: ErrRow},
		"reversed times": {run: Run{Books: books([]Row{{AccountID: "A", From: ago(0), To: ago(1)}}), Histories: s}, want: ErrRow},
		"no directory":   {run: Run{Books: books(rows), Histories: s, Directory: "missing", inMemory: 1}, want: os.ErrNotExist},
		"canceled":       {gone: true, run: Run{Books: books(rows), Histories: s}, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if c.gone {
				ctx = canceled
			}
			var got []error
			for f, err := range c.run.Findings(ctx) {
				require.Equal(t, Finding{}, f)
				got = append(got, err)
			}
			require.Len(t, got, 1)
			require.ErrorIs(t, got[0], c.want)
			_, complete := c.run.Checkpoint()
			require.False(t, complete)
		})
	}
	t.Run("canceled while it reads", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := histories()
		s.begun = func(prepaid.AccountID) { cancel() }
		for _, err := range (&Run{Books: books(rows), Histories: s}).Findings(ctx) {
			_, account := errors.AsType[*AccountError](err)
			require.False(t, account)
			require.ErrorIs(t, err, context.Canceled)
		}
	})
	t.Run("left", func(t *testing.T) {
		run := Run{Books: books(rows), Histories: histories()}
		f, err := first(t, &run)
		require.NoError(t, err)
		require.Equal(t, KindBooksOnly, f.Kind)
		_, complete := run.Checkpoint()
		require.False(t, complete)
	})
}

func TestRowOf(t *testing.T) {
	t.Parallel()
	began, changed := ago(2*hour), ago(hour)
	for _, state := range journal.States() {
		e := journal.Entry{RequestID: "r", AccountID: "A", Amount: prepaid.Cents(5), State: state, Began: began, Changed: changed, NotBefore: ago(minute)}
		got := RowOf(e)
		want := Row{RequestID: "r", AccountID: "A", Amount: prepaid.Cents(-5), From: began, To: changed, Expected: notPaid}
		switch state {
		case journal.StateDone:
			want.Expected = paid
		case journal.StateUnknown:
			want.Expected, want.To = unknown, ago(minute)
		case journal.StateIntended:
			want.Expected = running
		default:
		}
		require.Equal(t, want, got, state)
	}
	queued := RowOf(journal.Entry{State: journal.StateQueued, Changed: changed})
	require.Equal(t, []time.Time{changed, changed}, []time.Time{queued.From, queued.To})
	back := RowOf(journal.Entry{State: journal.StateDone, Began: changed, Changed: began})
	require.Equal(t, []time.Time{began, changed}, []time.Time{back.From, back.To})
	for id, earliest := range map[prepaid.RequestID]time.Time{ // of payments that another program sent at began for the last time
		"r": began.Add(-journal.Window), prepaid.DeriveRequestID(prepaid.DateOf(began), "r"): ago(8 * 24 * hour),
		prepaid.DeriveRequestID(prepaid.DateOf(began.AddDate(0, 0, 9)), "r"): began,
	} {
		e, err := journal.NewEntry(prepaid.Secret{}, "A", prepaid.TransferParams{RequestID: id, LastSent: began})
		require.NoError(t, err)
		require.WithinDuration(t, earliest, RowOf(e).From, time.Second, id)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "matched books only service only amount differs twice ambiguous too early", fmt.Sprint(Kinds())[1:len(fmt.Sprint(Kinds()))-1])
	require.Equal(t, "kind(0) kind(9) expected(9)", fmt.Sprint(Kind(0), " ", Kind(9), " ", Expected(9)))
	require.Equal(t, "unknown paid not paid in progress", fmt.Sprint(unknown, paid, notPaid, running))
}

// More than fits into memory: everything in one account, and groups of any size.
func TestOnDisk(t *testing.T) {
	t.Parallel()
	const most, n = 2 * mostInGroup, 6*mostInGroup + 7 // with three runs on disk, and a group for a third of the rows
	dir := t.TempDir()
	numbers := rand.New(rand.NewPCG(1, 2)).Perm(n)
	var items []prepaid.Transaction
	for _, i := range numbers {
		items = append(items, item(fmt.Sprintf("%08d", i), strconv.Itoa(-1-i%3), 9*hour))
	}
	slices.Reverse(items)
	rows := func(ids bool) iter.Seq2[Row, error] {
		return func(yield func(Row, error) bool) {
			for _, i := range numbers {
				id := ""
				if ids || i%3 > 0 {
					id = fmt.Sprintf("%08d", i)
				}
				if !yield(row("request", id, strconv.Itoa(-1-i%3), 9*hour, paid), nil) {
					return
				}
			}
		}
	}
	run := Run{inMemory: most, Books: rows(true), Histories: histories(items...), Directory: dir, OnProgress: func(p Progress) {
		if p.Done == 0 {
			made, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, made, "if the process is killed, nothing stays")
		}
	}}
	require.Equal(t, map[Kind]int{KindMatched: n}, count(t, &run))
	run.Books = rows(false)
	ambiguous := map[prepaid.TransactionID]int{}
	kinds, equal := map[Kind]int{}, 0
	for f, err := range run.Findings(t.Context()) {
		require.NoError(t, err)
		require.LessOrEqual(t, len(f.Rows)+len(f.Items), mostInGroup)
		kinds[f.Kind]++
		if f.Kind == KindAmbiguous {
			equal += len(f.Rows)
			for _, item := range f.Items {
				ambiguous[item.TransactionID]++
			}
		}
	}
	delete(kinds, KindAmbiguous)
	require.Equal(t, map[Kind]int{KindMatched: n / 3 * 2}, kinds)
	require.Equal(t, []int{(n + 2) / 3, (n + 2) / 3}, []int{equal, len(ambiguous)})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSorter(t *testing.T) {
	t.Parallel()
	const most = 1000
	s := sorter{directory: t.TempDir(), compare: byID, most: most}
	defer s.close()
	var want []record
	for i := range 2*most + 1 {
		r := record{
			account: "EA", id: fmt.Sprintf("%07d", i), request: "r\x00é", code: "2950", amount: prepaid.Cents(int64(-i)),
			from: -1 << 60, to: 1 << 60, expected: running, explained: i%2 == 0,
		}
		want = append(want, r)
	}
	for i := range want {
		require.NoError(t, s.add(&want[len(want)-1-i]))
	}
	info, err := s.file.Stat()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	c, err := s.sorted()
	require.NoError(t, err)
	for i := range want {
		require.Equal(t, want[i], *c.head())
		require.NoError(t, c.advance())
	}
	require.Nil(t, c.head())

	require.NoError(t, s.file.Truncate(s.end/2))
	c, err = s.sorted()
	for err == nil && c.head() != nil {
		err = c.advance()
	}
	require.Error(t, err)
	require.NoError(t, s.file.Close())
	for err = nil; err == nil; {
		err = s.add(&want[0])
	}
	require.ErrorIs(t, err, os.ErrClosed)
}

// A function of the caller that panics or ends its goroutine fails its account, and ends neither the process nor the run.
func TestIgnoreMisbehaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, misbehaves := range []func(){func() { panic("private") }, runtime.Goexit} {
			s := histories(item("A1", "-1", hour), item("B1", "-1", hour))
			found, failed := all(t, &Run{
				Histories: s, Books: books([]Row{row("A1", "A1", "-1", hour, paid), row("B1", "B1", "-1", hour, paid)}),
				Ignore: func(t *prepaid.Transaction) bool {
					if t.AccountID == "A" {
						misbehaves()
					}
					return false
				},
			})
			require.Equal(t, []prepaid.AccountID{"A"}, failed)
			require.Equal(t, []string{"matched: B1 = B1"}, found)
		}
	})
}
