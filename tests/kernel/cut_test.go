//go:build linux

package kernel

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/internal/tests/netns"
)

// Times of the client, and the bank's time for a payment: less than the client allows for.
const (
	attempt  = time.Second
	inFlight = time.Second
	takes    = 500 * time.Millisecond

	payments = 6
	shortCut = 1300 * time.Millisecond // all repeats find the link up
	longCut  = 2600 * time.Millisecond // longer than attempt and inFlight
	observed = 4500 * time.Millisecond // from the fault on; the kernel sends again after 0.2, 0.4, 0.8, 1.7 and 3.3 s
)

// scenario is one way in which attempts end while something is wrong.
type scenario struct {
	transport connections
	end       string
	fault     string
	away      time.Duration
}

const (
	byLimit  = "time limit"
	byCancel = "cancel"
	byClose  = "close"
	byKill   = "kill"
	byStop   = "stop"

	faultCut      = "link cut"
	faultData     = "data lost"
	faultAcks     = "acknowledgements lost"
	faultResets   = "resets lost"
	faultHalfOpen = "half open"
	faultFrozen   = "service frozen"
)

func (s scenario) String() string {
	return fmt.Sprintf("%s, %s, %s %v", s.transport, s.end, s.fault, s.away)
}

// setups bounds how many links are made at the same time, since the kernel has one lock for all of them, and how many faults
// begin, since a busy machine is too slow for them.
var setups = make(chan struct{}, 4)

func (s scenario) test(t *testing.T) {
	t.Parallel()
	for range 30 {
		if s.tested(t) {
			return
		}
	}
	t.Fatal("the machine is too slow")
}

// tested reports whether the fault began early enough in the attempts to test something.
func (s scenario) tested(t *testing.T) bool {
	t.Helper()
	setups <- struct{}{}
	release := sync.OnceFunc(func() { <-setups })
	defer release()
	link := netns.New(t)
	captured := link.Capture()
	b := bank.Serve(t, link.Listen(), bank.Options{
		TLS: s.transport != kept && s.transport != fresh && s.transport != http2Only, HTTP2Only: s.transport == http2Only,
		Takes: func(id string, _ int) time.Duration {
			if id[0] == 'w' {
				return 50 * time.Millisecond
			}
			return takes
		},
	})
	set := setup{
		URL: b.URL, Certificate: b.Certificate, Transport: s.transport, Attempt: attempt, InFlight: inFlight, Payments: payments,
		Stagger: 40 * time.Millisecond,
	}
	p := start(t, link, set)
	p.await(ready, 1)
	warm := b.Count()
	p.command(commandPay)
	early := p.has(connected, payments, attempt)
	s.begin(link, b)
	began := time.Now()
	early = early && began.Sub(p.first(connected).At) < attempt/4
	p.command(commandWrite)
	left := written
	if s.fault == faultHalfOpen { // a reset may arrive in the middle of a request
		left = writing
	}
	early = early && p.has(left, payments, attempt/2)
	if s.end == byStop { // a process that is stopped before its write sends afterwards: no kernel can help
		early = early && p.queued(payments, attempt/2)
	}
	if !early {
		t.Log("slow: again")
		p.kill()
		return false
	}
	release()
	if s.fault == faultResets {
		require.Eventually(t, func() bool { return b.Count().Requests >= warm.Requests+payments }, time.Minute, time.Millisecond)
		link.Lose(netns.ToService | netns.ToClient)
	}
	first := p
	switch s.end {
	case byCancel:
		p.command(commandCancel)
	case byClose:
		p.command(commandClose)
	case byKill:
		p.kill()
		set.LastSent = time.Now()
		p = start(t, link, set)
		p.command(commandPay)
	case byStop:
		require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	}
	time.Sleep(time.Until(began.Add(s.away)))
	link.Heal()
	b.Thaw()
	if s.end == byStop {
		time.Sleep(time.Until(began.Add(attempt + inFlight + takes*2)))
		require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	}
	p.await(paid, payments)
	time.Sleep(time.Until(began.Add(observed)))
	segments := captured()
	p.kill()

	before, after := first.late(segments, attempt)
	count := b.Count()
	t.Logf("%d segments with requests before the end of their attempts, %d after; %d connections reset; %d requests read, %d paid twice",
		before, len(after), first.aborted(segments), count.Requests-warm.Requests, len(count.Twice))
	require.Len(t, first.ports(connected), payments, "payments share a connection: the end of one ends others")
	require.Equal(t, payments, count.Paid-warm.Paid)
	require.Empty(t, count.Twice, "paid twice")
	require.Empty(t, after, "segments with requests after the end of their attempts")
	return true
}

// begin starts the fault.
func (s scenario) begin(link *netns.Link, b *bank.Bank) {
	switch s.fault {
	case faultCut:
		link.Cut()
	case faultData:
		link.Lose(netns.ToService)
	case faultAcks:
		link.Lose(netns.ToClient)
	case faultHalfOpen:
		link.Cut()
		b.Vanish()
		link.Heal()
	case faultFrozen:
		b.Freeze()
	}
}

// Whatever ends the attempts while the link is down, each payment is made once.
func TestLinkAway(t *testing.T) {
	t.Parallel()
	for _, kind := range []connections{kept, fresh, tlsKept, tlsHTTP2, http2Only} {
		for _, end := range []string{byLimit, byCancel, byClose, byKill, byStop} {
			for _, away := range []time.Duration{shortCut, longCut} {
				s := scenario{kind, end, faultCut, away}
				t.Run(s.String(), s.test)
			}
		}
	}
}

// over runs a scenario over connections of each kind.
func over(t *testing.T, s scenario) {
	t.Helper()
	for _, s.transport = range []connections{kept, tlsHTTP2, http2Only, wrapped} {
		t.Run(s.String(), s.test)
	}
}

// The requests of a process that was killed end with it, although the kernel could still send them.
func TestNothingLeavesAfterAKill(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byKill, fault: faultData, away: shortCut})
}

// A request that was cancelled, or ran into its limit, ends with its attempt.
func TestNothingLeavesAfterAnAttempt(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byLimit, fault: faultData, away: shortCut})
	over(t, scenario{end: byCancel, fault: faultData, away: longCut})
	over(t, scenario{end: byLimit, fault: faultAcks, away: longCut})
}

// The requests of a process that is stopped end with their limits.
func TestNothingLeavesAStoppedProcess(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byStop, fault: faultData, away: longCut})
}

// The service has the request, and never learns that the attempt has ended.
func TestResetIsLost(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byCancel, fault: faultResets, away: shortCut})
	over(t, scenario{end: byLimit, fault: faultResets, away: longCut})
}

// The service has forgotten the connections.
func TestHalfOpenConnections(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byLimit, fault: faultHalfOpen})
}

// A service that is frozen for longer than all waits carries out whatever it has read, and nothing was sent meanwhile.
func TestFrozenService(t *testing.T) {
	t.Parallel()
	over(t, scenario{end: byLimit, fault: faultFrozen, away: 3 * (attempt + inFlight)})
}
