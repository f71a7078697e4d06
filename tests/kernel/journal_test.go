//go:build linux

package kernel

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/internal/tests/netns"
)

var defaults = flag.Bool("defaults", false, "TestDefaults, and the default times for TestJournalOverACutLink and TestCutBehindAProxy: a quarter of an hour")

// A journal of 1,000 payments whose link is cut again and again, and whose process is killed, pays each once.
func TestJournalOverACutLink(t *testing.T) {
	t.Parallel()
	const all = 1000
	attempt, rest, patience := 500*time.Millisecond, 500*time.Millisecond, 3*time.Minute
	if *defaults {
		attempt, rest, patience = 30*time.Second, 10*time.Second, 15*time.Minute
	}
	link := netns.New(t)
	b := bank.Serve(t, link.Listen(), bank.Options{Takes: func(id string, _ int) time.Duration {
		if strings.ContainsAny(id[len(id)-1:], "258") {
			return rest * 2 / 3
		}
		return rest / 100
	}})
	set := setup{
		URL: b.URL, Transport: kept, Attempt: attempt, InFlight: rest, Payments: all, Journal: filepath.Join(t.TempDir(), "payments"),
	}
	p := start(t, link, set)
	p.command(commandPay)
	link.Interrupt(t, attempt+rest, patience, func(count int) bool { return b.Count().Paid > all*(count+1)/10 }, func(int) {
		p.kill()
		p = start(t, link, set)
		p.command(commandPay)
	})
	require.True(t, p.has(finished, 1, patience))
	count := b.Count()
	t.Logf("%d payments, %d requests read, %d paid twice", count.Paid, count.Requests, len(count.Twice))
	require.Equal(t, all, count.Paid)
	require.Empty(t, count.Twice)
}

// With the default times too: 40 payments on kept connections, a link that is away for 46 s.
func TestDefaults(t *testing.T) {
	if !*defaults {
		t.Skip("takes two minutes: needs -defaults")
	}
	t.Parallel()
	const all = 40
	link := netns.New(t)
	captured := link.Capture()
	b := bank.Serve(t, link.Listen(), bank.Options{Takes: func(id string, _ int) time.Duration {
		if id[0] == 'w' {
			return time.Second
		}
		return rand.N(8 * time.Second)
	}})
	p := start(t, link, setup{URL: b.URL, Transport: kept, Payments: all, Stagger: 25 * time.Millisecond})
	p.await(ready, 1)
	p.command(commandPay)
	p.await(connected, all)
	link.Cut()
	began := time.Now()
	p.command(commandWrite)
	time.Sleep(time.Until(began.Add(46 * time.Second)))
	link.Heal()
	require.True(t, p.has(paid, all, 3*time.Minute)) // after 105 s; the kernel sends again after 53 s
	before, after := p.late(captured(), 30*time.Second)
	count := b.Count()
	t.Logf("%d segments with requests before the end of their attempts, %d after; %d requests read, %d paid twice", before, len(after),
		count.Requests, len(count.Twice))
	require.Equal(t, 2*all, count.Paid, "with those that made the connections")
	require.Empty(t, count.Twice)
	require.Empty(t, after)
}
