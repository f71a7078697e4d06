package reconcile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows  []Row
		items []prepaid.Transaction
		want  []string
	}{
		"matched by ID, at any time": {
			[]Row{row("r", "7", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5", 20*hour)}, []string{"matched: r = 7"},
		},
		"matched by amount and time": {
			[]Row{row("r", "", "-5", 9*hour, unknown)}, []prepaid.Transaction{item("7", "-5.00", 9*hour-minute), item("8", "-6", 9*hour)},
			[]string{"matched: r ~ 7", "service only:  = 8"},
		},
		"another sign": {
			[]Row{row("r", "", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "5", 9*hour)},
			[]string{"books only: r = ", "service only:  = 7"},
		},
		"edges of the period": {
			[]Row{row("r", "", "-5", 9*hour, paid), row("s", "", "-6", 9*hour, paid)},
			[]prepaid.Transaction{item("7", "-5", 9*hour+2*minute), item("8", "-6", 9*hour-10*minute)},
			[]string{"matched: r ~ 7", "matched: s ~ 8"},
		},
		"outside the period": {
			[]Row{row("r", "", "-5", 9*hour, paid), row("s", "", "-6", 9*hour, unknown)},
			[]prepaid.Transaction{item("7", "-5", 9*hour+2*minute+time.Second), item("8", "-6", 9*hour-10*minute-time.Second)},
			[]string{"books only: r = ", "books only: s = ", "service only:  = 7", "service only:  = 8"},
		},
		"another account": {
			[]Row{row("r", "7", "-5", 9*hour, paid)}, []prepaid.Transaction{item("B7", "-5", 9*hour)}, []string{"books only: r = ", "service only:  = B7"},
		},
		"amount differs": {
			[]Row{row("r", "7", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5.01", 9*hour)}, []string{"amount differs: r = 7"},
		},
		"not paid, and no item": {[]Row{row("r", "", "-5", 9*hour, notPaid)}, nil, []string{"matched: r = "}},
		"not paid, with an ID": {
			[]Row{row("r", "7", "-5", 9*hour, notPaid)}, []prepaid.Transaction{item("7", "-5", 9*hour)}, []string{"service only: r = 7"},
		},
		"not paid, and an equal item": {
			[]Row{row("r", "", "-5", 9*hour, notPaid)}, []prepaid.Transaction{item("7", "-5", 9*hour)}, []string{"ambiguous: r = 7"},
		},
		"twice at the service": {
			[]Row{row("r", "7", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5", 9*hour), item("8", "-5", 9*hour-minute), item("9", "-5", 5*hour)},
			[]string{"matched: r = 7", "service only:  = 9", "twice: r = 8"},
		},
		"an ID twice at the service": {
			[]Row{row("r", "7", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5", 9*hour), item("7", "-9000", 9*hour)}, []string{"twice: r = 7 7"},
		},
		"twice in the books": {
			[]Row{row("r", "7", "-5", 9*hour, paid), row("s", "7", "-5", 8*hour, paid), row("u", "8", "-5", 8*hour, paid), row("v", "8", "-5", 8*hour, paid)},
			[]prepaid.Transaction{item("7", "-5", 9*hour)}, []string{"twice: r s = 7", "twice: u v = "},
		},
		"an item explained by ID is no candidate": {
			[]Row{row("r", "7", "-5", 9*hour, paid), row("s", "", "-5", 9*hour, unknown)}, []prepaid.Transaction{item("7", "-5", 9*hour), item("8", "-5", 9*hour)},
			[]string{"matched: r = 7", "matched: s ~ 8"},
		},
		"two rows for an item": {
			[]Row{row("r", "", "-5", 9*hour, paid), row("s", "", "-5", 9*hour-5*minute, unknown)}, []prepaid.Transaction{item("7", "-5", 9*hour-5*minute)},
			[]string{"ambiguous: r s = 7"},
		},
		"two items for a row": {
			[]Row{row("r", "", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5", 9*hour), item("8", "-5", 9*hour-minute)},
			[]string{"ambiguous: r = 7 8"},
		},
		"connected by one row": {
			[]Row{row("r", "", "-5", 9*hour, paid), row("s", "", "-5", 9*hour-8*minute, paid), row("u", "", "-5", 9*hour+11*minute, paid)},
			[]prepaid.Transaction{item("7", "-5", 9*hour), item("8", "-5", 9*hour-7*minute), item("9", "-5", 9*hour-12*minute)},
			[]string{"ambiguous: r s = 7 8 9", "books only: u = "},
		},
		"overlapping rows with an item of one": {
			[]Row{row("r", "", "-5", 9*hour, paid), row("s", "", "-5", 9*hour-5*minute, paid)}, []prepaid.Transaction{item("7", "-5", 9*hour)},
			[]string{"books only: s = ", "matched: r ~ 7"},
		},
		"an unseen ID is no reason to call an equal item another's": {
			[]Row{row("r", "1", "-5", 9*hour, paid)}, []prepaid.Transaction{item("7", "-5", 9*hour)}, []string{"ambiguous: r = 7"},
		},
		"too early": {
			[]Row{
				row("r", "", "-5", 21*minute, paid), row("s", "", "-6", 22*minute, paid), row("u", "9", "-7", minute, notPaid),
				row("v", "", "-8", 9*hour, running), row("w", "", "-9", 21*minute, paid),
			},
			[]prepaid.Transaction{item("7", "-1", 11*minute), item("8", "-1", 12*minute), item("4", "-9", 21*minute), item("5", "-8", hour)},
			[]string{
				"books only: s = ", "service only:  = 8", "too early:  = 7", "too early: r = ", "too early: u = ",
				"too early: v = 5", "too early: w = 4",
			},
		},
		"in progress for more than a day": {
			[]Row{row("r", "", "-5", 25*hour, running), row("s", "", "-5", minute, running), row("u", "", "-6", 25*hour, running), row("v", "7", "-7", 25*hour, running), row("w", "", "-8", 25*hour, running)},
			[]prepaid.Transaction{item("5", "-5", 0), item("7", "-7", 25*hour), item("8", "-8", hour)},
			[]string{"ambiguous: r s = 5", "ambiguous: w = 8", "books only: u = ", "matched: v = 7"},
		},
		"an ID is never too early": {
			[]Row{row("r", "7", "-5", 0, running), row("s", "8", "-5", 0, paid)}, []prepaid.Transaction{item("7", "-5", 0), item("8", "-6", 0)},
			[]string{"amount differs: s = 8", "matched: r = 7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				found, failed := all(t, &Run{Books: books(c.rows), Histories: histories(c.items...), Accounts: []prepaid.AccountID{"B"}})
				require.Equal(t, c.want, found)
				require.Empty(t, failed)
				reported, _ := all(t, &Run{Books: books(c.rows), Report: report(c.items), ReportFrom: ago(48 * hour), ReportTo: ago(0)})
				require.Equal(t, c.want, reported, "the same with a report")
			})
		})
	}
}

// oracle decides like Run, from the definition: it compares each row with each item. All rows and items are old enough.
func oracle(rows []Row, items []prepaid.Transaction) (found []string) {
	add := func(kind Kind, byAmount bool, rows []Row, items []prepaid.Transaction) {
		f := Finding{Kind: kind, ByAmount: byAmount, Rows: rows}
		for _, t := range items {
			f.Items = append(f.Items, Item{TransactionID: t.ID})
		}
		found = append(found, f.String())
	}
	var explained, open []Row
	for _, r := range rows {
		i := slices.IndexFunc(items, func(t prepaid.Transaction) bool { return t.ID == r.TransactionID })
		if i < 0 {
			open = append(open, r)
			continue
		}
		switch own := items[i : i+1 : i+1]; {
		case own[0].Amount != r.Amount:
			add(KindAmountDiffers, false, []Row{r}, own)
		case r.Expected == notPaid:
			add(KindServiceOnly, false, []Row{r}, own)
		default:
			add(KindMatched, false, []Row{r}, own)
			explained = append(explained, r)
		}
		items = slices.Delete(slices.Clone(items), i, i+1)
	}
	covers := func(r Row, t prepaid.Transaction) bool {
		return r.Amount == t.Amount && !t.OccurredAt.Before(r.From.Add(-2*minute)) && !t.OccurredAt.After(r.To.Add(10*minute))
	}
	for len(open)+len(items) > 0 { // a connected group each
		var group []Row
		var own []prepaid.Transaction
		if len(open) > 0 {
			group, open = open[:1:1], open[1:]
		} else {
			own, items = items[:1:1], items[1:]
		}
		for grown := true; grown; {
			before := len(group) + len(own)
			items = slices.DeleteFunc(slices.Clone(items), func(t prepaid.Transaction) bool {
				joins := slices.ContainsFunc(group, func(r Row) bool { return covers(r, t) })
				if joins {
					own = append(own, t)
				}
				return joins
			})
			open = slices.DeleteFunc(slices.Clone(open), func(r Row) bool {
				joins := slices.ContainsFunc(own, func(t prepaid.Transaction) bool { return covers(r, t) })
				if joins {
					group = append(group, r)
				}
				return joins
			})
			grown = len(group)+len(own) > before
		}
		switch {
		case len(own) == 0 && group[0].Expected == notPaid:
			add(KindMatched, false, group, own)
		case len(own) == 0:
			add(KindBooksOnly, false, group, own)
		case len(group) == 0:
			if i := slices.IndexFunc(explained, func(r Row) bool { return covers(r, own[0]) }); i >= 0 {
				add(KindTwice, false, nil, own) // whichever row it is
			} else {
				add(KindServiceOnly, false, group, own)
			}
		case len(group) == 1 && len(own) == 1 && group[0].TransactionID == "" && group[0].Expected != notPaid:
			add(KindMatched, true, group, own)
		default:
			add(KindAmbiguous, false, group, own)
		}
	}
	slices.Sort(found)
	return found
}

func TestRandomAgainstDefinition(t *testing.T) {
	bubble(t, func(t *testing.T) {
		seen := map[string]int{}
		for seed := range uint64(120) {
			random := rand.New(rand.NewPCG(seed, 0))
			var rows []Row
			var items []prepaid.Transaction
			for n := range 40 {
				amount, at := fmt.Sprint(-1-random.IntN(3)), hour+time.Duration(random.IntN(400))*minute
				r := row(fmt.Sprint("r", n), "", amount, at, []Expected{paid, notPaid, unknown}[random.IntN(3)])
				r.To = r.From.Add(time.Duration(random.IntN(5)) * minute)
				id := fmt.Sprint(n)
				switch random.IntN(4) {
				case 0:
					r.TransactionID = prepaid.TransactionID(id)
				case 1:
					r.TransactionID = "unseen" + prepaid.TransactionID(id)
				}
				if random.IntN(10) > 0 {
					rows = append(rows, r)
				}
				if random.IntN(10) == 0 {
					amount = "-4"
				}
				if random.IntN(10) > 0 {
					items = append(items, item(id, amount, at-time.Duration(random.IntN(14)-2)*minute))
				}
			}
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			for i := range rows {
				rows[i].To = later(rows[i].To, rows[i].From)
			}
			found, _ := all(t, &Run{Books: books(rows), Histories: histories(items...)})
			for i, text := range found {
				kind, _, _ := strings.Cut(text, ":")
				seen[kind]++
				if kind == "twice" {
					_, items, _ := strings.Cut(text, "=")
					found[i] = "twice:  =" + items
				}
			}
			slices.Sort(found)
			require.Equal(t, oracle(rows, items), found, seed)
		}
		for _, kind := range Kinds() {
			require.Equal(t, kind != KindTooEarly, seen[kind.String()] > 9, seen)
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
