package fleet_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// A pool grants these, each on its own limit with the name of its test.
func TestState(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*testing.T, *memory){
		"grants what is needed":                      grantsWhatIsNeeded,
		"gives stock only from plenty":               givesStockOnlyFromPlenty,
		"money before bulk":                          moneyBeforeBulk,
		"keeps the floor of those to come":           keepsTheFloorOfThoseToCome,
		"ignores a late repetition":                  ignoresALateRepetition,
		"pauses all":                                 pausesAll,
		"forgets the dead":                           forgetsTheDead,
		"keeps the account of one that leaves":       keepsTheAccountOfOneThatLeaves,
		"grants nothing on a new server":             grantsNothingOnANewServer,
		"grants nothing on another server":           grantsNothingOnAnotherServer,
		"grants nothing once the data is lost":       grantsNothingOnceTheDataIsLost,
		"grants nothing until the living were heard": grantsNothingUntilTheLivingWereHeard,
		"grants nothing after a long silence":        grantsNothingAfterALongSilence,
		"grants at once when all have left":          grantsAtOnceWhenAllHaveLeft,
	} {
		t.Run(name, func(t *testing.T) { virtually(t, check) })
	}
}

// bank sends reports of many replicas to a pool, by default with 100 slots in 10 s.
type bank struct {
	t       *testing.T
	backend *memory
	pool    fleet.Pool
	options fleet.Options
	seq     uint64
}

func newBank(t *testing.T, s *memory, options fleet.Options) *bank {
	t.Helper()
	options.Allowance = 100
	options.Window = cmp.Or(options.Window, 10*time.Second)
	options.Lease = cmp.Or(options.Lease, 5*time.Second)
	return &bank{t: t, backend: s, pool: s.Open(t, t.Name()), options: options}
}

// fresh lets the pool grant from the start.
func (b *bank) fresh() *bank {
	b.backend.Used(b.t, b.t.Name())
	return b
}

// put reports the slots that a replica holds and needs.
func (b *bank) put(id string, r fleet.Report) fleet.Grant {
	b.t.Helper()
	b.seq++
	r.ID, r.Seq = id, cmp.Or(r.Seq, b.seq)
	r.Allowance, r.Replicas, r.Lease, r.Gone = b.options.Allowance, b.options.Replicas, b.options.Lease, goneOf(b.options)
	if r.Replicas > 0 {
		r.Floor = r.Allowance / (10 * r.Replicas)
	}
	g, err := b.pool.Exchange(b.t.Context(), r)
	require.NoError(b.t, err)
	return g
}

func call(n int) [fleet.LaneCount]int { return [fleet.LaneCount]int{0, n, 0} }

func grantsWhatIsNeeded(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	a := b.put("a", fleet.Report{Need: call(30)})
	require.Equal(t, fleet.Grant{Granted: 30, Allot: 30, Replicas: 1}, a)
	require.Equal(t, 70, b.put("b", fleet.Report{Need: call(500)}).Granted)
	// a has more now, and b must give it the half of all.
	a = b.put("a", fleet.Report{Held: 30, Need: call(80)})
	require.Equal(t, 0, a.Granted)
	require.Equal(t, 50, a.Allot)
	got := b.put("b", fleet.Report{Held: 70, Need: call(500)})
	require.Equal(t, 20, got.Give)
	require.Equal(t, 50, got.Allot)
	require.Equal(t, 0, b.put("b", fleet.Report{Held: 50, Need: call(500)}).Give)
	require.Equal(t, 20, b.put("a", fleet.Report{Held: 30, Need: call(80)}).Granted)
}

func givesStockOnlyFromPlenty(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	require.Equal(t, 1+20, b.put("a", fleet.Report{Need: call(1), Extra: 20}).Granted)
	require.Equal(t, 75, b.put("b", fleet.Report{Need: call(75)}).Granted)
	require.Equal(t, 1, b.put("c", fleet.Report{Need: call(1), Extra: 20}).Granted)
	// A stock has to give the slots that another lacks.
	require.Equal(t, 3, b.put("d", fleet.Report{Need: call(10)}).Granted)
	require.Equal(t, 7, b.put("a", fleet.Report{Held: 21, Need: call(1)}).Give)
}

func moneyBeforeBulk(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	// Bulk leaves 2 %.
	require.Equal(t, 98, b.put("bulk", fleet.Report{Need: [fleet.LaneCount]int{0, 0, 300}}).Granted)
	require.Equal(t, 2, b.put("money", fleet.Report{Need: [fleet.LaneCount]int{300, 0, 0}}).Granted)
	// It gives all but the sixteenth that each lane keeps.
	got := b.put("bulk", fleet.Report{Held: 98, Need: [fleet.LaneCount]int{0, 0, 300}})
	require.Equal(t, 98-6, got.Give)
	// Money gets the slots that bulk has given, though bulk asks first.
	require.Equal(t, 0, b.put("bulk", fleet.Report{Held: 50, Need: [fleet.LaneCount]int{0, 0, 300}}).Granted)
	require.Equal(t, 48, b.put("money", fleet.Report{Held: 2, Need: [fleet.LaneCount]int{300, 0, 0}}).Granted)
	// If money and bulk wait in a replica, money is first.
	const money, bulk = 47, 3 // even parts of 94 and of 6
	require.Equal(t, money+bulk, b.put("both", fleet.Report{Need: [fleet.LaneCount]int{50, 0, 50}}).Allot)
}

func keepsTheFloorOfThoseToCome(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{Replicas: 5}).fresh() // a floor of 2
	require.Equal(t, 100-2-4*2, b.put("a", fleet.Report{Held: 2, Need: call(500)}).Granted)
	got := b.put("b", fleet.Report{Held: 2, Need: call(500)})
	require.Equal(t, 0, got.Granted)
	require.Equal(t, 47, got.Allot)
	require.Equal(t, 92-47, b.put("a", fleet.Report{Held: 92, Need: call(500)}).Give)
	// An idle replica need not give its floor.
	c := b.put("c", fleet.Report{Held: 2})
	require.Equal(t, 0, c.Give)
}

func ignoresALateRepetition(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	require.Equal(t, 10, b.put("a", fleet.Report{Seq: 5, Need: call(10)}).Granted)
	require.Equal(t, fleet.Void, b.put("a", fleet.Report{Seq: 5, Need: call(10)}).Granted)
	require.Equal(t, fleet.Void, b.put("a", fleet.Report{Seq: 4, Need: call(50)}).Granted)
	require.Equal(t, 90, b.put("b", fleet.Report{Seq: 1, Need: call(100)}).Granted)
}

func pausesAll(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	b.put("a", fleet.Report{Pause: 5 * time.Second})
	heard := b.put("b", fleet.Report{})
	require.InDelta(t, 5, heard.Paused.Seconds(), 0.5)
	require.EqualValues(t, 1, heard.Pauses)
	b.put("b", fleet.Report{Pause: time.Second}) // a shorter one changes nothing
	require.EqualValues(t, 1, b.put("a", fleet.Report{}).Pauses)
	b.put("b", fleet.Report{Pause: 8 * time.Second})
	heard = b.put("a", fleet.Report{})
	require.EqualValues(t, 2, heard.Pauses)
	require.InDelta(t, 8, heard.Paused.Seconds(), 0.5)
}

func forgetsTheDead(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{Window: 200 * time.Millisecond, Lease: 300 * time.Millisecond}).fresh()
	b.put("dead", fleet.Report{Need: call(100)})
	gone := time.Now().Add(520 * time.Millisecond)
	for time.Now().Before(gone.Add(-100 * time.Millisecond)) {
		require.Equal(t, 0, b.put("a", fleet.Report{Need: call(100)}).Granted)
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Until(gone) + 20*time.Millisecond)
	require.Equal(t, 100, b.put("a", fleet.Report{Need: call(100)}).Granted)
}

func keepsTheAccountOfOneThatLeaves(t *testing.T, s *memory) {
	b := newBank(t, s, fleet.Options{}).fresh()
	b.put("a", fleet.Report{Need: call(100)})
	b.put("a", fleet.Report{Held: 40, Leaving: 300 * time.Millisecond})
	got := b.put("b", fleet.Report{Need: call(100)})
	require.Equal(t, 60, got.Granted)
	require.Equal(t, 1, got.Replicas)
	time.Sleep(320 * time.Millisecond)
	require.Equal(t, 40, b.put("b", fleet.Report{Held: 60, Need: call(100)}).Granted)
}

// short are options whose slots are soon gone.
func short() fleet.Options {
	return fleet.Options{Window: 200 * time.Millisecond, Lease: 250 * time.Millisecond}
}

func opensAfter(t *testing.T, b *bank, r fleet.Report) {
	t.Helper()
	a := b.put("a", r)
	require.Equal(t, 0, a.Granted)
	require.InDelta(t, goneOf(b.options).Seconds(), a.Opens.Seconds(), 0.1)
	for opens := time.Now().Add(a.Opens); time.Until(opens) > 20*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		require.Equal(t, 0, b.put("a", r).Granted)
	}
	time.Sleep(40 * time.Millisecond)
	require.Positive(t, b.put("a", r).Granted)
}

func grantsNothingOnANewServer(t *testing.T, s *memory) {
	a := newBank(t, s, fleet.Options{Window: time.Hour}).put("a", fleet.Report{Need: call(10)})
	require.Equal(t, 0, a.Granted)
	require.Greater(t, a.Opens, 50*time.Minute)
}

func grantsNothingOnAnotherServer(t *testing.T, s *memory) {
	b := newBank(t, s, short()).fresh()
	s.state(t.Name()).Server = "another"
	opensAfter(t, b, fleet.Report{Need: call(10)})
}

func grantsNothingOnceTheDataIsLost(t *testing.T, s *memory) {
	opensAfter(t, newBank(t, s, short()), fleet.Report{Need: call(10), Known: true})
}

func grantsNothingUntilTheLivingWereHeard(t *testing.T, s *memory) {
	b := newBank(t, s, short()).fresh()
	b.put("b", fleet.Report{Need: call(10)})
	time.Sleep(b.options.Lease + 10*time.Millisecond)
	opensAfter(t, b, fleet.Report{Need: call(10)})
}

// All accounts have ended, but perhaps their replicas only could not reach the server.
func grantsNothingAfterALongSilence(t *testing.T, s *memory) {
	b := newBank(t, s, short()).fresh()
	b.put("b", fleet.Report{Need: call(10)})
	time.Sleep(goneOf(b.options) + 10*time.Millisecond)
	opensAfter(t, b, fleet.Report{Need: call(10)})
}

func grantsAtOnceWhenAllHaveLeft(t *testing.T, s *memory) {
	b := newBank(t, s, short()).fresh()
	b.put("b", fleet.Report{Need: call(10)})
	b.put("b", fleet.Report{Held: 10, Leaving: 400 * time.Millisecond})
	time.Sleep(b.options.Lease + 10*time.Millisecond)
	require.Equal(t, 90, b.put("a", fleet.Report{Need: call(100)}).Granted)
	b.put("a", fleet.Report{Held: 90, Leaving: time.Millisecond})
	time.Sleep(b.options.Lease + 10*time.Millisecond)
	require.Zero(t, b.put("away", fleet.Report{Need: call(100), Known: true}).Granted, "others may have been away too")
}
