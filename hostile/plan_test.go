package hostile

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// planned is the plan of a run, with its orders.
func planned(t *testing.T, o Options) (Options, *orders, plan) {
	t.Helper()
	o.Worker = "w"
	o, err := o.withDefaults()
	require.NoError(t, err)
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = srv.Close() })
	s := order(o, srv)
	return o, s, newPlan(o, s)
}

func TestSameSeedSamePlan(t *testing.T) {
	t.Parallel()
	o := Options{Seed: 7, Payments: 60, Rollbacks: 5, Database: "postgres://localhost/x"}
	_, orders, one := planned(t, o)
	_, _, two := planned(t, o)
	require.Equal(t, one, two)
	o.Seed = 8
	_, others, three := planned(t, o)
	require.NotEqual(t, one, three)
	require.NotEqual(t, orders.refused, others.refused)
}

func TestPlanHasEverythingItPromises(t *testing.T) {
	t.Parallel()
	afterPassing, runsOn, endings := 0, 0, make(map[string]bool)
	for seed := range uint64(50) {
		o, orders, p := planned(t, Options{Seed: seed + 1, Payments: 60, Rollbacks: 20, Refused: 7, Freezes: 4, Database: "postgres://localhost/x"})
		require.Len(t, orders.list, 80)
		require.Len(t, orders.refused, 7)
		require.Len(t, orders.rolledBack, 20)
		acts, refusals, kinds := make(map[action]int), 0, make(map[string]int)
		for n, steps := range p {
			for i, s := range steps {
				acts[s.act]++
				if loses(s.fault.String()) && s.act == actNone {
					words := strings.Fields(s.ending.String())
					endings[strings.Join(words[:min(2, len(words))], " ")] = true
				}
				if s.act != actNone {
					require.False(t, orders.rolledBack[n])
				}
				text := s.limited(o.longest()).String()
				kinds[strings.Fields(text)[0]]++
				if strings.HasPrefix(text, "respond 4") { // only after an unknown outcome is it no proof
					refusals++
					before := slices.DeleteFunc(slices.Clone(steps[:i]), func(s step) bool {
						return slices.Contains([]string{"too-many-requests", "expire-token"}, s.fault.String())
					})
					require.NotEmpty(t, before)
					if len(before) < i {
						afterPassing++
					}
				}
				if strings.HasPrefix(text, "respond 500") && strings.Contains(text, "commit-after") {
					runsOn++
				}
				if held, ok := strings.CutPrefix(text, "delay "); ok {
					d, err := time.ParseDuration(held)
					require.NoError(t, err)
					require.Greater(t, d, o.longest()/2-time.Millisecond)
					require.LessOrEqual(t, d, o.longest())
				}
			}
		}
		require.Equal(t, 6, acts[actKill]+acts[actKillAfter])
		require.Equal(t, 4, acts[actFreeze])
		require.Equal(t, 6, acts[actCut])
		require.Equal(t, 1, acts[actClockMoves])
		require.Equal(t, 3, acts[actNetwork])
		require.Equal(t, 1, acts[actService])
		require.Positive(t, refusals)
		require.Len(t, kinds, 10, "%v", kinds)
	}
	require.Len(t, endings, 7, "%v", endings)
	require.Positive(t, afterPassing, "what is sent again at once settles nothing")
	require.Positive(t, runsOn, "a 500 does not say that nothing moves")
}

func TestCutsOfTheNetworkAreOfAllKinds(t *testing.T) {
	t.Parallel()
	kinds := make(map[[3]bool]int)
	for seed := range uint64(50) {
		o, _, p := planned(t, Options{Seed: seed + 1, NetworkCuts: 10})
		for _, steps := range p {
			if s := steps[0]; s.act == actNetwork {
				kinds[[3]bool{s.held, s.kill, s.lasts > o.AttemptTimeout+o.InFlightWait}]++
			}
		}
	}
	require.Len(t, kinds, 8, "%v", kinds)
}

// A request ends before its repeat may be sent, counted from its start or from the end of a hold.
func TestRequestIsOverBeforeItsRepeat(t *testing.T) {
	t.Parallel()
	o, _, _ := planned(t, Options{})
	sent := time.Now()
	require.Equal(t, sent.Add(950*time.Millisecond), o.over(sent, time.Time{}))
	require.Equal(t, sent.Add(950*time.Millisecond), o.over(sent, sent.Add(100*time.Millisecond)))
	require.Equal(t, sent.Add(1700*time.Millisecond), o.over(sent, sent.Add(time.Second)))
	long := step{runs: time.Second}
	require.Equal(t, prepaidtest.Delay(time.Millisecond), long.limited(time.Millisecond))
	require.Equal(t, prepaidtest.Delay(time.Second), long.limited(time.Minute))
	require.Equal(t, prepaidtest.Delay(time.Microsecond), long.limited(-1))
}

func TestNoFaults(t *testing.T) {
	t.Parallel()
	o, _, p := planned(t, Options{Payments: 60, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: -1, ServiceFreezes: -1, ClockMoves: -1, Refused: -1, TransfersOnly: true})
	require.Empty(t, p)
	require.Equal(t, step{}, p.at(1, 1))
	require.NotZero(t, o.Seed)
	require.Less(t, o.longest(), o.AttemptTimeout+o.InFlightWait)
}

func TestOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	for rule, o := range map[string]Options{
		"Command or Worker is required":    {},
		"Payments: must be 1 to 100000":    {Worker: "w", Payments: -1},
		"Refused: must not be more":        {Worker: "w", Payments: 5, Refused: 6},
		"Rollbacks: are too many":          {Worker: "w", Rollbacks: 200_000},
		"Copies: must be 1 to 64":          {Worker: "w", Copies: 65},
		"Faults: must be at most 1":        {Worker: "w", Faults: 1.1},
		"Kills, Freezes, Cuts, NetworkCut": {Worker: "w", Payments: 5, Kills: 6},
		"Cuts: needs a Database":           {Worker: "w", Cuts: 1},
		"AttemptTimeout and InFlightWait:": {Worker: "w", InFlightWait: -1},
		"Freeze, NetworkCut and ServiceF":  {Worker: "w", NetworkCut: -1},
		"Timeout and Quiet: must be above": {Worker: "w", Timeout: -1},
		"Database: must be a URL":          {Worker: "w", Database: "host=/tmp"},
		"Database: must have a host and":   {Worker: "w", Database: "mysql://localhost/x"},
	} {
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, "hostile: "+rule)
	}
}

func TestSeedFromTheEnvironment(t *testing.T) {
	t.Setenv("PREPAID_HOSTILE_SEED", "12")
	o, err := Options{Worker: "w"}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, uint64(12), o.Seed)
	o, err = Options{Worker: "w", Seed: 3}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, uint64(3), o.Seed)
	t.Setenv("PREPAID_HOSTILE_SEED", "x")
	_, err = Options{Worker: "w"}.withDefaults()
	require.EqualError(t, err, "hostile: PREPAID_HOSTILE_SEED: must be a whole number")
}

// The time of a movement is in the run's time, although the emulator's clock has moved on.
func TestWallTimeOfTheServer(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	r := &run{clock: start, moves: []move{{start.Add(time.Second), time.Hour}, {start.Add(time.Hour + 3*time.Second), time.Hour}}}
	require.Equal(t, time.Second, r.wall(start.Add(time.Second)))
	require.Equal(t, 2*time.Second, r.wall(start.Add(time.Hour+2*time.Second)))
	require.Equal(t, 4*time.Second, r.wall(start.Add(2*time.Hour+4*time.Second)))
}
