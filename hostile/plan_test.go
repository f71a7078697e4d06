package hostile

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// planned is the plan of a run, with its options.
func planned(t *testing.T, o Options) (Options, plan) {
	t.Helper()
	o, err := o.withDefaults()
	require.NoError(t, err)
	return o, newPlan(o)
}

func cut(context.Context) error { return nil }

func TestSameSeedSamePlan(t *testing.T) {
	t.Parallel()
	refused := func(o Options) map[int]bool {
		srv, err := prepaidtest.Start(prepaidtest.Options{})
		require.NoError(t, err)
		defer srv.Close()
		return order(o, srv).refused
	}
	o, one := planned(t, Options{Seed: 7, Payments: 60})
	_, two := planned(t, o)
	require.Equal(t, one, two)
	first := refused(o)
	require.Len(t, first, 3)
	o.Seed = 8
	_, three := planned(t, o)
	require.NotEqual(t, one, three)
	require.NotEqual(t, first, refused(o))
}

func TestPlanHasEverythingItPromises(t *testing.T) {
	t.Parallel()
	runsOn, endings, cuts := 0, make(map[[2]bool]bool), make(map[[2]bool]bool)
	for seed := range uint64(50) {
		o, p := planned(t, Options{Seed: seed + 1, Payments: 60, Freezes: 4, Cut: cut})
		acts, refusals, kinds := make(map[action]int), 0, make(map[string]int)
		for _, steps := range p {
			for i, s := range steps {
				acts[s.act]++
				if s.act == actNetwork {
					cuts[[2]bool{s.held, s.lasts > o.wait()}] = true
				}
				text := s.limited(o.longest()).String()
				if strings.Contains(text, "drop") && s.act == actNone {
					endings[[2]bool{s.ending.reset, s.ending.after > 0}] = true
				}
				kinds[strings.Fields(text)[0]]++
				if strings.HasPrefix(text, "respond 4") { // only after an unknown outcome is it no proof
					refusals++
					require.Positive(t, i)
					require.NotContains(t, []string{"too-many-requests", "expire-token"}, steps[i-1].fault.String())
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
		require.Equal(t, []int{6, 4, 6, 3, 1}, []int{acts[actKill] + acts[actKillAfter], acts[actFreeze], acts[actCut], acts[actNetwork], acts[actService]})
		require.Positive(t, refusals)
		require.Len(t, kinds, 10, "%v", kinds)
	}
	require.Len(t, endings, 4)
	require.Len(t, cuts, 4)
	require.Positive(t, runsOn, "a 500 does not say that nothing moves")
}

// A request ends before its repeat may be sent, counted from its start or from the end of a hold.
func TestRequestIsOverBeforeItsRepeat(t *testing.T) {
	t.Parallel()
	o, _ := planned(t, Options{})
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
	o, p := planned(t, Options{Payments: 60, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: -1, ServiceFreezes: -1})
	require.Empty(t, p)
	require.Equal(t, step{}, p.at(1, 1))
	require.NotZero(t, o.Seed)
	require.Less(t, o.longest(), o.wait())
}

func TestOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	for rule, o := range map[string]Options{
		"Payments: must be 1 to 100000":    {Payments: -1},
		"Copies: must be 1 to 64":          {Copies: 65},
		"Faults: must be at most 1":        {Faults: 1.1},
		"Kills, Freezes, NetworkCuts, Ser": {Payments: 5, Kills: 6},
		"Cuts: needs Cut":                  {Cuts: 1},
		"AttemptTimeout, InFlightWait, Fr": {InFlightWait: -1},
	} {
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, "hostile: "+rule)
	}
}

// Until a process has recovered from a freeze, no process is disturbed. Once another copy takes over, the requests of both run for long.
func TestFreezeWaitsForAnotherCopy(t *testing.T) {
	t.Parallel()
	r := &run{options: Options{Copies: 2}}
	none, kill := disturbance{}, disturbance{act: actKill}
	frozen, other := new(process), new(process)
	require.Equal(t, kill, r.next(flight{}, kill))
	require.False(t, r.meets(flight{process: other}))
	require.Equal(t, actFreeze, r.next(flight{process: frozen, payment: 1}, disturbance{act: actFreeze}).act)
	require.Equal(t, none, r.next(flight{}, kill))
	require.True(t, r.meets(flight{process: frozen, payment: 2}), "after its lease")
	require.False(t, r.meets(flight{process: other, payment: 2}))
	require.True(t, r.meets(flight{process: other, payment: 1}), "takes over")
	require.True(t, r.meets(flight{process: other, payment: 2}))
	<-r.frozen.taken
	r.frozen.until = time.Now()
	require.False(t, r.meets(flight{process: other, payment: 2}))
	require.Equal(t, kill, r.next(flight{}, none))
	require.Equal(t, none, r.next(flight{}, none))
}

// What a process has sent during its freeze, or just after it, is lost.
func TestFrozenSince(t *testing.T) {
	t.Parallel()
	p, now := new(process), time.Now()
	require.False(t, p.frozenSince(now))
	p.frozen = true
	require.True(t, p.frozenSince(now.Add(time.Hour)))
	p.frozen, p.thawed = false, now
	require.True(t, p.frozenSince(now.Add(onItsWay-1)))
	require.False(t, p.frozenSince(now.Add(onItsWay)))
}
