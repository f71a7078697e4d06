package prepaidredis

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bank puts reports to the script as many replicas, of 100 slots in 10 s.
type bank struct {
	t        *testing.T
	limiters map[string]*Limiter
	server   *server
	options  LimiterOptions
	seq      uint64
}

func newBank(t *testing.T, options LimiterOptions) *bank {
	t.Helper()
	if options.Allowance == 0 {
		options.Allowance = 100
	}
	return &bank{t: t, limiters: map[string]*Limiter{}, server: startServer(t), options: options.withDefaults()}
}

// fresh has Redis grant from the start.
func (b *bank) fresh() *bank {
	b.t.Helper()
	b.server.used(b.options.Key)
	return b
}

// put sends what replica name holds and needs.
func (b *bank) put(name string, r report) response {
	b.t.Helper()
	return b.send(name, r, 0)
}

func (b *bank) send(name string, r report, leaving time.Duration) response {
	b.t.Helper()
	l := b.limiters[name]
	if l == nil {
		l = newScripted(b.server, b.options, name)
		b.limiters[name] = l
	}
	if r.seq == 0 {
		b.seq++
		r.seq = b.seq
	}
	a, err := l.exchange(context.Background(), r, leaving)
	require.NoError(b.t, err)
	return a
}

// newScripted is a limiter that does nothing by itself.
func newScripted(s *server, options LimiterOptions, name string) *Limiter {
	return &Limiter{client: s.client(), script: newScript(), options: options, id: name, slots: newSlots(options, func() {})}
}

func call(n int) [laneCount]int { return [laneCount]int{0, n, 0} }

func TestScriptGrantsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	a := b.put("a", report{need: call(30)})
	require.Equal(t, response{granted: 30, allot: 30, replicas: 1}, a)
	require.Equal(t, 70, b.put("b", report{need: call(500)}).granted)
	// a has more now, and b must give it the half of all.
	a = b.put("a", report{held: 30, need: call(80)})
	require.Equal(t, 0, a.granted)
	require.Equal(t, 50, a.allot)
	got := b.put("b", report{held: 70, need: call(500)})
	require.Equal(t, 20, got.give)
	require.Equal(t, 50, got.allot)
	require.Equal(t, 0, b.put("b", report{held: 50, need: call(500)}).give)
	require.Equal(t, 20, b.put("a", report{held: 30, need: call(80)}).granted)
}

func TestScriptGivesStockOnlyFromPlenty(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	require.Equal(t, 1+20, b.put("a", report{need: call(1), extra: 20}).granted)
	require.Equal(t, 75, b.put("b", report{need: call(75)}).granted)
	require.Equal(t, 1, b.put("c", report{need: call(1), extra: 20}).granted)
	// What another lacks, a stock has to give.
	require.Equal(t, 3, b.put("d", report{need: call(10)}).granted)
	require.Equal(t, 7, b.put("a", report{held: 21, need: call(1)}).give)
}

func TestScriptMoneyBeforeBulk(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	// Bulk leaves 2 %.
	require.Equal(t, 98, b.put("bulk", report{need: [laneCount]int{0, 0, 300}}).granted)
	require.Equal(t, 2, b.put("money", report{need: [laneCount]int{300, 0, 0}}).granted)
	// It gives all but the sixteenth that no lane goes without.
	got := b.put("bulk", report{held: 98, need: [laneCount]int{0, 0, 300}})
	require.Equal(t, 98-6, got.give)
	// What it has given money gets, though bulk asks first.
	require.Equal(t, 0, b.put("bulk", report{held: 50, need: [laneCount]int{0, 0, 300}}).granted)
	require.Equal(t, 48, b.put("money", report{held: 2, need: [laneCount]int{300, 0, 0}}).granted)
	// A replica with money and bulk waiting gets money first.
	const money, bulk = 47, 3 // even parts of 94 and of 6
	require.Equal(t, money+bulk, b.put("both", report{need: [laneCount]int{50, 0, 50}}).allot)
}

func TestScriptKeepsTheFloorOfThoseToCome(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{Replicas: 5}).fresh() // a floor of 2
	require.Equal(t, 100-2-4*2, b.put("a", report{held: 2, need: call(500)}).granted)
	got := b.put("b", report{held: 2, need: call(500)})
	require.Equal(t, 0, got.granted)
	require.Equal(t, 47, got.allot)
	require.Equal(t, 92-47, b.put("a", report{held: 92, need: call(500)}).give)
	// An idle one is not asked to give its floor.
	c := b.put("c", report{held: 2})
	require.Equal(t, 0, c.give)
}

func TestScriptIgnoresALateRepetition(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	require.Equal(t, 10, b.put("a", report{seq: 5, need: call(10)}).granted)
	require.Equal(t, -1, b.put("a", report{seq: 5, need: call(10)}).granted)
	require.Equal(t, -1, b.put("a", report{seq: 4, need: call(50)}).granted)
	require.Equal(t, 90, b.put("b", report{seq: 1, need: call(100)}).granted)
}

func TestScriptPausesAll(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	b.put("a", report{pause: 5 * time.Second})
	heard := b.put("b", report{})
	require.InDelta(t, 5, heard.paused.Seconds(), 0.5)
	require.EqualValues(t, 1, heard.pauses)
	b.put("b", report{pause: time.Second}) // a shorter one changes nothing
	require.EqualValues(t, 1, b.put("a", report{}).pauses)
	b.put("b", report{pause: 8 * time.Second})
	heard = b.put("a", report{})
	require.EqualValues(t, 2, heard.pauses)
	require.InDelta(t, 8, heard.paused.Seconds(), 0.5)
}

func TestScriptForgetsTheDead(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{Window: 200 * time.Millisecond, Lease: 300 * time.Millisecond}).fresh()
	b.put("dead", report{need: call(100)})
	gone := time.Now().Add(520 * time.Millisecond)
	for time.Now().Before(gone.Add(-100 * time.Millisecond)) {
		require.Equal(t, 0, b.put("a", report{need: call(100)}).granted)
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Until(gone) + 20*time.Millisecond)
	require.Equal(t, 100, b.put("a", report{need: call(100)}).granted)
}

func TestScriptOneThatLeaves(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	b.put("a", report{need: call(100)})
	b.send("a", report{held: 40}, 300*time.Millisecond)
	got := b.put("b", report{need: call(100)})
	require.Equal(t, 60, got.granted)
	require.Equal(t, 1, got.replicas)
	time.Sleep(320 * time.Millisecond)
	require.Equal(t, 40, b.put("b", report{held: 60, need: call(100)}).granted)
}

func TestScriptGrantsNothingUntilAllHaveBeenHeard(t *testing.T) {
	t.Parallel()
	gone := 250*time.Millisecond + 200*time.Millisecond + 20*time.Millisecond
	shut := func(t *testing.T, b *bank, r report) {
		t.Helper()
		a := b.put("a", r)
		require.Equal(t, 0, a.granted)
		require.InDelta(t, gone.Seconds(), a.opens.Seconds(), 0.1)
		time.Sleep(a.opens + 5*time.Millisecond)
		require.Positive(t, b.put("a", r).granted)
	}
	options := LimiterOptions{Window: 200 * time.Millisecond, Lease: 250 * time.Millisecond}
	t.Run("a server that has just started", func(t *testing.T) {
		t.Parallel()
		a := newBank(t, LimiterOptions{}).put("a", report{need: call(10)})
		require.Equal(t, 0, a.granted)
		require.Greater(t, a.opens, 5*time.Second)
	})
	t.Run("another server", func(t *testing.T) {
		t.Parallel()
		b := newBank(t, options).fresh()
		require.NoError(t, b.server.client().HSet(t.Context(), b.options.Key, "run", "rother").Err())
		shut(t, b, report{need: call(10)})
	})
	t.Run("data lost", func(t *testing.T) {
		t.Parallel()
		shut(t, newBank(t, options), report{need: call(10), known: true})
	})
	t.Run("nobody heard for a lease", func(t *testing.T) {
		t.Parallel()
		b := newBank(t, options).fresh()
		b.put("b", report{need: call(10)})
		time.Sleep(260 * time.Millisecond)
		shut(t, b, report{need: call(10)})
	})
}

func TestScriptStateExpires(t *testing.T) {
	t.Parallel()
	b := newBank(t, LimiterOptions{}).fresh()
	b.put("a", report{need: call(1)})
	left, err := b.server.client().PTTL(t.Context(), b.options.Key).Result()
	require.NoError(t, err)
	require.InDelta(t, 3600, left.Seconds(), 5)
}
