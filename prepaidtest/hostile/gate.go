package hostile

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// flight is one request for a payment.
type flight struct {
	process   *process
	payment   int // index
	arrival   int // of this payment, from 1
	number    int64
	at, ended time.Duration
	requestID prepaid.RequestID
	fault     string
	overlaps  bool
	late      bool // was on its way while its process was frozen, as far as one can tell
}

// event is something else that happened.
type event struct {
	at      time.Duration
	process *process // nil for all
	text    string
}

// move is a move of the emulator's clock.
type move struct {
	from time.Time // the server's clock before
	by   time.Duration
}

// passage is what a request takes through the emulator: who has sent it, and what decide wants done with its response.
type passage struct {
	process *process
	flight  int // index; -1 for none
	after   bool
}

type passageKey struct{}

// ServeHTTP passes a request of this process on to the emulator.
func (p *process) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	through := &passage{process: p, flight: -1}
	p.run.server.ServeHTTP(w, q.WithContext(context.WithValue(q.Context(), passageKey{}, through)))
	p.run.land(through)
	if through.after {
		_ = http.NewResponseController(w).Flush() // nothing to flush if a fault has cut the connection
		if p.kill("KILLED with the response just sent") {
			p.run.count(func(c *Counts) { c.Kills++ })
		}
	}
}

// land notes the end of a request.
func (r *run) land(through *passage) {
	if through.flight < 0 {
		return
	}
	now := r.since()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flights[through.flight].ended = now
}

// tokenFaults is every how many token requests one fails.
const tokenFaults = 4

// decide is what happens to a request that has arrived.
func (r *run) decide(ctx context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
	through, ok := ctx.Value(passageKey{}).(*passage)
	if !ok {
		return prepaidtest.Fault{} // not from a copy
	}
	switch a.Operation {
	case "POST /token":
		if a.Ordinal%tokenFaults == 0 && r.options.Faults > 0 {
			return []prepaidtest.Fault{prepaidtest.Respond(503, ""), prepaidtest.DropBeforeCommit()}[a.Ordinal/tokenFaults%2]
		}
		return prepaidtest.Fault{}
	case Transfer.path(), DirectEntryOut.path():
	default:
		return prepaidtest.Fault{}
	}
	through.process.payments.Add(1)
	n, known := r.orders.find(a.RequestID, a.Amount)
	if !known {
		return prepaidtest.Fault{} // shows in the accounts, if it pays
	}
	late := through.process.justContinued() // which takes a lock that is held while events are noted
	flown := flight{
		process: through.process, payment: n, number: a.Number, requestID: a.RequestID, late: late, overlaps: r.running(a.RequestID, late),
	}
	next := r.arrive(through, flown)
	r.act(through, next.act)
	return next.fault
}

// running reports whether an earlier request with this ID still runs. One that is due has ended, however slow this machine is:
// the service keeps its promise. And where either of the two was on its way while its process was frozen, the second arrives after
// the first has ended: no lease helps against that, and nobody can freeze a process at a better moment.
func (r *run) running(id prepaid.RequestID, late bool) bool {
	late = late || r.anyLate(id)
	for {
		overlaps, due := false, late
		for _, other := range r.server.RunningTransfers() {
			if other.RequestID == id {
				overlaps, due = true, due || other.Left == 0
			}
		}
		if !overlaps || !due {
			return overlaps
		}
		time.Sleep(time.Millisecond)
	}
}

// anyLate reports whether a request with this ID was on its way while its process was frozen.
func (r *run) anyLate(id prepaid.RequestID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.flights, func(f flight) bool { return f.requestID == id && f.late })
}

// mostArrivals is how often one payment may be sent. A worker that has waited as it should needs a tenth of it.
const mostArrivals = 100

// arrive notes a request, and returns what happens to it.
func (r *run) arrive(through *passage, flown flight) step {
	flown.at = r.since()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastSent = time.Now()
	n := flown.payment
	if r.arrivals[n]++; r.arrivals[n] == mostArrivals {
		r.end(fmt.Errorf("%s was sent %d times", r.orders.list[n].SourceReference, mostArrivals))
	}
	flown.arrival = r.arrivals[n]
	next := r.plan.at(n, flown.arrival)
	if next.fault != (prepaidtest.Fault{}) {
		flown.fault = next.fault.String()
		r.counts.Faults++
	}
	through.flight = len(r.flights)
	r.flights = append(r.flights, flown)
	r.counts.Requests++
	if loses(flown.fault) {
		r.counts.LostResponses++
	}
	if flown.overlaps {
		r.counts.Overlaps++
	}
	return next
}

// loses reports whether a fault loses the response.
func loses(fault string) bool {
	return strings.HasPrefix(fault, "commit-then-drop") || strings.HasPrefix(fault, "drop-before-commit") || strings.HasPrefix(fault, "truncate")
}

// act does something to the process that has sent a request, or for all.
func (r *run) act(through *passage, what action) {
	switch what {
	case actKill:
		if through.process.kill("KILLED with the request in flight") {
			r.count(func(c *Counts) { c.Kills++ })
		}
	case actKillAfter:
		through.after = true
	case actFreeze:
		if through.process.freeze(r.options.Freeze) {
			r.count(func(c *Counts) { c.Freezes++ })
		}
	case actCut:
		through.process.database.cut()
		r.note(event{process: through.process, text: "DATABASE CUT OFF for " + outage.String()})
		r.count(func(c *Counts) { c.Cuts++ })
	case actClockMoves:
		const by = time.Hour
		r.mu.Lock()
		r.moves = append(r.moves, move{r.server.Now(), by})
		r.server.Advance(by)
		r.mu.Unlock()
		r.note(event{text: fmt.Sprintf("the emulator's clock moves on by %s", by)})
		r.count(func(c *Counts) { c.ClockMoves++ })
	}
}

func (r *run) count(do func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(&r.counts)
}

// note adds an event.
func (r *run) note(e event) {
	e.at = r.since()
	name := "run"
	if e.process != nil {
		name = e.process.String()
	}
	r.log.line(name, e.text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}
