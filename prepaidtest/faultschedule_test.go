package prepaidtest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFault_AnyOperationComesAfterTheOperationsOwn(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.Inject(AnyOperation, Respond(503, "").Times(2))
	c.Inject(codesOperation, Respond(500, ""))
	c.get("policy/mccodes").refused(500, "server_error")
	c.get("policy/mccodes").refused(503, "server_error")
	c.tokenRequest(basic("emulator-client", "emulator-secret"), "grant_type=client_credentials").refused(503, "server_error")
	c.get("policy/mccodes").ok()
}

func TestFault_TimesAndAlways(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	endlessly := Respond(503, "").Times(9).Always()
	c.Inject(codesOperation, Respond(500, "").Always().Times(3), endlessly)
	c.Inject(AnyOperation, Delay(0))
	require.Equal(t, 5, c.FaultsLeft())
	for range 2 {
		c.get("policy/mccodes").refused(500, "server_error")
	}
	require.Equal(t, []ArmedFault{
		{codesOperation, Respond(500, "").Times(3), 2, 1}, {codesOperation, endlessly, 0, -1}, {AnyOperation, Delay(0), 0, 1},
	}, c.Faults())
	c.get("policy/mccodes").refused(500, "server_error")
	for range 5 {
		c.get("policy/mccodes").refused(503, "server_error")
	}
	require.Equal(t, ArmedFault{codesOperation, endlessly, 5, -1}, c.Faults()[0])
	c.RemoveFaults(codesOperation)
	require.Len(t, c.Faults(), 1)
	c.get("policy/mccodes").ok()
	require.Empty(t, c.Faults())
}

func TestFault_ProbabilityIsSeeded(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (statuses []int) {
		c := start(t, Options{RandomSeed: new(uint64(seed)), RateLimit: -1})
		c.Inject(codesOperation, Respond(500, "").WithProbability(0.25), Respond(429, "").WithProbability(0.5).Times(3))
		for range 200 {
			statuses = append(statuses, c.get("policy/mccodes?page_size=1").status)
		}
		require.Len(t, c.Faults(), 1, "the one with Times is used up")
		return statuses
	}
	count := make(map[int]int)
	first := draw(7)
	for _, status := range first {
		count[status]++
	}
	require.Equal(t, 3, count[429])
	require.InDelta(t, 50, count[500], 25)
	require.Equal(t, 200, count[200]+count[429]+count[500])
	require.Equal(t, first, draw(7))
	require.NotEqual(t, first, draw(8))

	plain, faulty := start(t, Options{RandomSeed: new(uint64(7))}), start(t, Options{RandomSeed: new(uint64(7))})
	faulty.Inject(codesOperation, Respond(500, "").WithProbability(0.5))
	faulty.get("policy/mccodes")
	require.Equal(t, plain.newToken(), faulty.newToken(), "draws do not change the ids")
}

func TestFault_BadNumbersFailTheTest(t *testing.T) {
	t.Parallel()
	for rule, fault := range map[string]Fault{
		"times must":           Truncate().Times(0),
		"probability must":     Truncate().WithProbability(0),
		"at most 1":            Truncate().WithProbability(1.01),
		"above 0":              Truncate().WithProbability(math.NaN()),
		"status must":          Respond(199, ""),
		"200 to 999":           RespondBody(1000, "", ""),
		"the status":           ProxyPage(0),
		"duration must":        Delay(-1),
		"must not be negative": SlowBody(-time.Second),
		"not be negative":      TooManyRequests(-1),
		"length must":          WrongLength(0),
	} {
		recorder := &failures{TB: t}
		s := NewServer(recorder, Options{})
		s.Inject(codesOperation, CommitThenDrop(), fault)
		require.Len(t, recorder.messages, 1, rule)
		require.Contains(t, recorder.messages[0], rule)
		require.Zero(t, s.FaultsLeft(), "nothing is armed")
	}
	recorder := &failures{TB: t}
	NewServer(recorder, Options{}).Inject("POST /token", ExpireToken())
	require.Len(t, recorder.messages, 1)
	require.Contains(t, recorder.messages[0], "token endpoint")
}
