package prepaidredis

import (
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// model is a limit and its replicas, of which one reports at a time.
type model struct {
	random *rand.Rand
	common fleet.Report // the fields that all reports share
	state  fleet.State
	server fleet.Server
	real   int64 // milliseconds since the start; the server's clock is also set
	held   [6]int
	seq    [6]uint64
	acked  [6]uint64 // the last exchange with a response, and its time
	at     [6]int64
	jumped [6]bool
}

func newModel(random *rand.Rand) *model {
	m := &model{random: random, server: fleet.Server{Run: "run", Now: 1_700_000_000_000, Up: random.Int64N(40) * 1000}}
	m.common = fleet.Report{
		Allowance: []int{1, 3, 40, 100, 1000}[random.IntN(5)], Lease: 5 * time.Second, Gone: 16 * time.Second,
	}
	if m.common.Replicas = []int{0, 2, 5}[random.IntN(3)]; m.common.Replicas > 0 {
		m.common.Floor = m.common.Allowance / (10 * m.common.Replicas)
	}
	return m
}

// often reports true once in n times.
func (m *model) often(n int) bool { return m.random.IntN(n) == 0 }

// next lets time pass and returns a replica's report then.
func (m *model) next() fleet.Report {
	passes := m.random.Int64N(500)
	switch {
	case m.often(60):
		passes = m.random.Int64N(20_000)
	case m.often(3):
		passes = 0
	}
	m.server.Now, m.real = m.server.Now+passes, m.real+passes
	if m.often(80) { // the clock is set
		m.server.Now += (1 - 2*m.random.Int64N(2)) * m.random.Int64N(100_000_000)
	}
	if m.often(200) { // a restart
		m.server.Run, m.server.Up = m.server.Run+"n", 0
	}
	i := m.random.IntN(len(m.held))
	r := m.common
	r.ID = strconv.Itoa(i)
	m.seq[i]++
	if r.Seq = m.seq[i]; m.often(20) {
		r.Seq -= min(r.Seq-1, m.random.Uint64N(3))
	}
	for lane := range r.Need {
		if m.often(2) {
			r.Need[lane] = m.random.IntN(m.common.Allowance + 2)
		}
	}
	since := time.Duration(m.real-m.at[i]) * time.Millisecond
	r.Acked, r.Stepped, r.Least, r.Most = m.acked[i], m.jumped[i], since-since/50, since+time.Duration(m.random.IntN(1000))*time.Millisecond
	if m.often(4) {
		m.held[i] = m.random.IntN(m.held[i] + 1)
	}
	r.Held, r.Extra, r.Known = m.held[i], m.random.IntN(20), m.often(2)
	if m.often(30) {
		r.Pause = time.Duration(m.random.IntN(8000)) * time.Millisecond
	}
	if m.often(30) {
		r.Leaving = time.Duration(1+m.random.IntN(16_000)) * time.Millisecond
	}
	return r
}

// exchange returns the grant of [fleet.State] and applies it to the replica.
func (m *model) exchange(r fleet.Report) fleet.Grant {
	after := m.state
	after.Members = maps.Clone(after.Members)
	g := after.Exchange(m.server, r)
	i := r.ID[0] - '0'
	m.jumped[i] = g.Granted == fleet.Stepped
	if g.Granted >= 0 { // else nothing is stored
		m.state = after
		m.held[i] += g.Granted - g.Give
		if !m.often(20) { // else the response is lost
			m.acked[i], m.at[i] = r.Seq, m.real
		}
	}
	return g
}

func TestScriptStateExpires(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	_, err := newPool(s.client(), "limit").Exchange(t.Context(), fleet.Report{ID: "a", Seq: 1, Allowance: 100, Gone: time.Second})
	require.NoError(t, err)
	left, err := s.client().PTTL(t.Context(), "limit").Result()
	require.NoError(t, err)
	require.InDelta(t, 30*24, left.Hours(), 1)
}

// The script and fleet.State grant the same for any reports at any time, and after any event of the server. Time and server are
// arguments of the script here.
func TestScriptGrantsWhatStateGrants(t *testing.T) {
	t.Parallel()
	text := strings.Replace(exchangeScript, "redis.call('TIME')", "{ARGV[20], ARGV[21]}", 1)
	text = strings.Replace(text, "redis.pcall('INFO', 'server')", "ARGV[22]", 1)
	require.Contains(t, text, "ARGV[21]")
	require.Contains(t, text, "ARGV[22]")
	script, client := redis.NewScript(text), startServer(t).client()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	granted, gave, void, stepped := 0, 0, 0, 0
	for range 60 {
		model := newModel(random)
		require.NoError(t, client.Del(t.Context(), "limit").Err())
		for range 100 {
			r := model.next()
			if random.IntN(300) == 0 { // the data is lost
				require.NoError(t, client.Del(t.Context(), "limit").Err())
				model.state = fleet.State{}
			}
			info := "run_id:" + model.server.Run + "\r\nuptime_in_seconds:" + strconv.FormatInt(model.server.Up/1000, 10) + "\r\n"
			values := append(arguments(r), model.server.Now/1000, model.server.Now%1000*1000, info)
			got, err := script.Run(t.Context(), client, []string{"limit"}, values...).Int64Slice()
			require.NoError(t, err)
			theirs, err := grantOf(got)
			require.NoError(t, err)
			ours := model.exchange(r)
			require.Equal(t, ours, theirs, "%+v at %+v", r, model.server)
			switch {
			case ours.Granted == fleet.Void:
				void++
			case ours.Granted == fleet.Stepped:
				stepped++
			case ours.Granted > 0:
				granted++
			case ours.Give > 0:
				gave++
			}
		}
	}
	t.Logf("of 6,000 exchanges %d granted, %d recalled, %d were void, %d found that the clock was set", granted, gave, void, stepped)
	require.Greater(t, min(granted/2, gave, void, stepped), 30)
}
