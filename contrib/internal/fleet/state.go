package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// State is a pool's record of one limit, for pools whose grants this package computes. Times are milliseconds of the
// server's clock. The zero value is for a limit that was never used, or whose state was lost.
//
// A member's account is the number of slots in its report plus later grants; slots in no account are free. Free slots have rested,
// so that a grant can be used at once. The script of contrib/redis computes the same, and a test there compares both.
type State struct {
	Server  string            `json:"server"` // the server's run, see Server.Run
	Open    int64             `json:"open"`   // when grants begin
	Seen    int64             `json:"seen"`   // the last exchange
	Paused  int64             `json:"paused"` // when a pause of all replicas ends
	Pauses  uint64            `json:"pauses"`
	Members map[string]Member `json:"members"`
}

// Member is the account of a replica.
type Member struct {
	Held   int            `json:"held"`
	Seq    uint64         `json:"seq"`
	Need   [LaneCount]int `json:"need"`
	Seen   int64          `json:"seen"`
	Ends   int64          `json:"ends"`
	Leaves bool           `json:"leaves,omitempty"`
}

// Server is the pool's server at an exchange.
type Server struct {
	// Run identifies this run of this server: it changes with a restart or a failover, and is never "".
	Run string
	// Now is its time in Unix milliseconds; Up is its uptime in milliseconds.
	Now, Up int64
}

// Exchange carries out one exchange. If the grant is Void or Stepped, the state need not be stored.
func (s *State) Exchange(server Server, r Report) Grant {
	now, gone := server.Now, r.Gone.Milliseconds()
	silent, followed := s.follow(now, r)
	if !followed {
		return Grant{Granted: Stepped}
	}
	maps.DeleteFunc(s.Members, func(_ string, m Member) bool { return m.Ends <= now })
	if r.Seq <= s.Members[r.ID].Seq {
		return Grant{Granted: Void}
	}
	// Until Open, nothing is granted: unreported replicas may be using slots. Grants stop when this server is not the server
	// of the last exchange, after a lease without any report, and if the state was lost.
	switch {
	case s.Server == "" && !r.Known:
		s.Open = now + max(0, gone-max(0, server.Up))
	case s.Server != server.Run, silent:
		s.Open = now + gone
	}
	if s.Members == nil {
		s.Members = map[string]Member{}
	}
	me := Member{Held: r.Held, Seq: r.Seq, Need: r.Need, Seen: now, Ends: now + gone}
	if r.Leaving > 0 {
		me.Need, me.Ends, me.Leaves = [LaneCount]int{}, now+r.Leaving.Milliseconds(), true
	}
	s.Members[r.ID] = me
	if until := now + r.Pause.Milliseconds(); r.Pause > 0 && until > s.Paused {
		s.Paused = until
		s.Pauses++
	}
	g := s.allocate(now, r.Lease.Milliseconds(), r)
	me.Held += g.Granted
	s.Members[r.ID] = me
	s.Server, s.Seen = server.Run, now
	g.Pauses = s.Pauses
	g.Paused = time.Duration(max(0, s.Paused-now)) * time.Millisecond
	g.Opens = time.Duration(max(0, s.Open-now)) * time.Millisecond
	return g
}

// follow moves all times by the steps of the server's clock since the last exchange. The replica knows at least and at most how long ago
// it exchanged; without that knowledge, at most a lease has passed. If more has passed than the replica knows, either the clock was set
// forward or this report is late: then follow changes nothing and reports false until the replica confirms that it got the response.
// silent means that for more than a lease no replica may have reached the server, although at least one had not left: such a replica
// may be using slots that are in no account.
func (s *State) follow(now int64, r Report) (silent, followed bool) {
	lease, me := r.Lease.Milliseconds(), s.Members[r.ID]
	passed, least, most := now-s.Seen, int64(0), lease
	knows := r.Acked > 0 && r.Acked <= me.Seq
	if knows {
		most = max(0, me.Seen-s.Seen+r.Most.Milliseconds()+1)
	}
	if knows && r.Acked == me.Seq {
		least = max(0, me.Seen-s.Seen+r.Least.Milliseconds())
	}
	if knows && passed > most && !r.Stepped {
		return false, false
	}
	believed := min(max(passed, least), most)
	silent = believed > lease || believed != passed && (!knows || most > lease)
	step, stayed := passed-believed, r.Known
	s.Seen, s.Open, s.Paused = s.Seen+step, s.Open+step, s.Paused+step
	for id, m := range s.Members {
		stayed = stayed || !m.Leaves
		m.Seen, m.Ends = m.Seen+step, m.Ends+step
		s.Members[id] = m
	}
	return silent && stayed, true
}

type part struct {
	id    string
	held  int
	need  [LaneCount]int
	allot [LaneCount]int
}

// allocate computes the grant of a replica whose report has been recorded.
func (s *State) allocate(now, lease int64, r Report) Grant {
	g := Grant{Allot: r.Held}
	free := r.Allowance
	var live []*part
	for id, m := range s.Members {
		free -= m.Held
		if m.Leaves {
			continue
		}
		g.Replicas++
		if now-m.Seen <= lease {
			live = append(live, &part{id: id, held: m.Held, need: m.Need})
		}
	}
	kept := max(0, r.Replicas-g.Replicas) * r.Floor // for configured replicas that have not started
	spare := free - kept
	shareOut(live, r.Allowance, r.Allowance-kept)

	var mine *part
	var missing [LaneCount]int // slots that others lack, for each lane and those above it together
	for _, p := range live {
		if p.id == r.ID {
			mine = p
			continue
		}
		sum := 0
		for lane, n := range p.allot {
			sum += n
			missing[lane] += max(0, sum-p.held)
		}
	}
	if mine == nil {
		return g
	}
	lacking := missing[LaneCount-1]
	target := max(r.Floor, total(mine.allot))
	g.Allot = max(target, r.Held)
	if now < s.Open {
		return g
	}
	sum, before := 0, 0 // before: slots that others lack for higher lanes
	for lane, n := range mine.allot {
		sum += n
		g.Granted += max(0, min(sum-r.Held-g.Granted, spare-g.Granted-before))
		before = missing[lane]
	}
	g.Granted += max(0, min(r.Floor-r.Held-g.Granted, spare-g.Granted))
	if g.Granted+r.Held >= total(r.Need) {
		g.Granted += max(0, min(r.Extra, (spare-g.Granted-lacking)/(g.Replicas+1)))
	}
	if lacking > spare && r.Held > target {
		g.Give = min(r.Held-target, lacking-spare)
		g.Allot = r.Held - g.Give
	}
	return g
}

// shareOut divides the usable slots, out of size slots in all, among the replicas. Each lane in turn shares out the slots that higher lanes
// left, smallest need first: a replica gets all it needs, but at most the slots left divided by the replicas left. A lower lane that needs
// a sixteenth of size gets at least that; calls leave the last 0.4 % to money, and bulk leaves the last 2 % to money and calls.
func shareOut(live []*part, size, usable int) {
	var needs [LaneCount]int
	for _, p := range live {
		for lane, n := range p.need {
			needs[lane] += n
		}
	}
	sure := [LaneCount]int{0, min(needs[1], size/16), min(needs[2], size/16)}
	forBoth := size / 50
	if size >= 4 {
		forBoth = max(forBoth, 1)
	}
	limit := [LaneCount]int{usable - sure[1] - sure[2], usable - sure[2] - size/250, usable - forBoth}
	used := 0
	for lane := range LaneCount {
		left := min(needs[lane], max(limit[lane]-used, sure[lane]))
		slices.SortFunc(live, func(a, b *part) int {
			return cmp.Or(cmp.Compare(a.need[lane], b.need[lane]), cmp.Compare(a.id, b.id))
		})
		for i, p := range live {
			p.allot[lane] = min(p.need[lane], left/(len(live)-i))
			left -= p.allot[lane]
			used += p.allot[lane]
		}
	}
}

func total(lanes [LaneCount]int) int {
	sum := 0
	for _, n := range lanes {
		sum += n
	}
	return sum
}

// LaneCount is the number of lanes, by rank: money, calls, bulk.
const LaneCount = 3

// Pool is the state that the replicas behind one address share.
type Pool interface {
	// Exchange records one replica's report and returns the slots it may take or must give. It is atomic among all
	// exchanges, and ends with ctx. After an error it may have taken effect.
	Exchange(ctx context.Context, r Report) (Grant, error)
}

// Report is a replica's state in one exchange.
type Report struct {
	// ID identifies the replica.
	ID string
	// Seq numbers the exchanges of the replica. An exchange with a Seq that is not above the last has no effect, and a Void grant.
	Seq uint64
	// Held is how many slots the replica owns. It replaces the pool's number.
	Held int
	// Need is how many slots its requests need or use, by lane.
	Need [LaneCount]int
	// Extra is how many more slots it wants for requests yet to arrive.
	Extra int
	// Pause is the remaining time of a pause after a 429, for the other replicas; in whole milliseconds, or 0.
	Pause time.Duration
	// Known reports that the pool should know this replica: it has exchanged before, or has not reached the pool for so
	// long that it owns its equal share. A pool that does not know this replica may not know others.
	Known bool
	// Leaving, if not 0, marks the replica's last exchange: slots stay on the replica's account for that time.
	Leaving time.Duration
	// Acked is the replica's last exchange with a response; 0 if none. Between that exchange and this one, at least Least and at most
	// Most pass, by the replica's monotonic clock.
	Acked       uint64
	Least, Most time.Duration
	// Stepped reports that the last exchange had the grant Stepped.
	Stepped bool

	// Allowance, Replicas, Floor, Lease and Gone are the same for all replicas. Each replica keeps at least Floor slots. Gone is
	// the time after a replica's last exchange until its slots have rested.
	Allowance, Replicas, Floor int
	Lease, Gone                time.Duration

	at time.Duration
}

// Grant is a pool's response to a Report.
type Grant struct {
	// Granted is how many slots the replica now owns in addition to the reported ones, or Void or Stepped.
	Granted int
	// Give is how many reported slots it must give back, after their rest.
	Give int
	// Allot is how many slots it may own in the end.
	Allot int
	// Replicas is the number of replicas.
	Replicas int
	// Paused is the remaining time of a pause of all replicas.
	Paused time.Duration
	// Pauses is the number of pauses.
	Pauses uint64
	// Opens is the time for which the pool grants nothing: it may not know all slots in use.
	Opens time.Duration
}

// Granted of exchanges without effect.
const (
	// Void is for a repeated exchange.
	Void = -1
	// Stepped means that the server's clock was set forward, if this response arrives in time.
	Stepped = -2
)
