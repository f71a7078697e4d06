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
	payment   int // index in the orders
	arrival   int // number of the request among those of this payment, from 1
	number    int64
	at, ended time.Duration
	reached   time.Duration // when it arrived, if a cut or a frozen service held it
	requestID prepaid.RequestID
	fault     string
	overlaps  bool
	late      bool  // probably on its way while its process was frozen
	waiting   *wire // the request's wire, until the end of the cut that the request began
	lost      bool  // lost in the network: the request never arrived
}

// event is an event of a run, other than a request.
type event struct {
	at      time.Duration
	process *process // nil if the event concerns all
	text    string
}

// move is a move of the emulator's clock.
type move struct {
	from time.Time // the server's time before the move
	by   time.Duration
}

// passage is the state of a request that passes through the emulator.
type passage struct {
	process        *process
	wire           *wire
	sent, released time.Time // released is zero if the request was not held
	flight         int       // index in flights; -1 for none
	after          bool
}

type passageKey struct{}

// ServeHTTP passes a request of this process on to the emulator.
func (p *process) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	through := &passage{process: p, flight: -1}
	through.wire, _ = q.Context().Value(wireKey{}).(*wire)
	through.sent, through.released = through.wire.times()
	through.awaitService()
	p.run.server.ServeHTTP(w, q.WithContext(context.WithValue(q.Context(), passageKey{}, through)))
	p.run.land(through)
	if through.after {
		_ = http.NewResponseController(w).Flush() // nothing to flush if a fault has cut the connection
		if p.kill("KILLED with the response just sent") {
			p.run.count(&p.run.counts.Kills)
		}
	}
}

// awaitService waits until a frozen service continues. It does not wait for another freeze: between two freezes the service
// runs, and handles the requests that it has received.
func (t *passage) awaitService() {
	if frozen := t.process.run.service.closed(); frozen != nil {
		<-frozen
		t.released = time.Now()
	}
}

// land records the end of a request.
func (r *run) land(through *passage) {
	if through.flight < 0 {
		return
	}
	now := r.since()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flights[through.flight].ended = now
}

// tokenFaults: one in tokenFaults token requests fails.
const tokenFaults = 4

// decide chooses the fault of a request that has arrived.
func (r *run) decide(ctx context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
	through, ok := ctx.Value(passageKey{}).(*passage)
	if !ok {
		return prepaidtest.Fault{} // not sent by a worker
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
		return prepaidtest.Fault{} // if this request pays, the report has a movement that was not ordered
	}
	late := through.process.frozenSince(through.sent) // frozenSince takes a lock that is held while events are recorded
	flown := flight{
		process: through.process, payment: n, number: a.Number, requestID: a.RequestID, late: late, overlaps: r.running(a.RequestID, late),
	}
	next := r.arrive(through, flown)
	r.act(through, next)
	return r.faultOf(through, next, r.wait(through, next, a.RequestID))
}

// wait holds a request that began a cut of the network or a freeze of the service. It returns when the cut or the freeze is over, and
// reports whether the request was lost.
func (r *run) wait(through *passage, next step, id prepaid.RequestID) (lost bool) {
	switch {
	case !next.held:
		return false
	case next.act == actService:
		through.awaitService()
		return false
	}
	through.process.network.pass()
	lost, through.released = through.wire.gone(), time.Now()
	late := through.process.frozenSince(through.sent)
	r.mu.Lock()
	flown := &r.flights[through.flight]
	flown.waiting, flown.lost, flown.late = nil, lost, late
	r.mu.Unlock()
	if late && !lost {
		r.running(id, true)
	}
	return lost
}

// faultOf returns the final fault of a request. A request that was held for longer than AttemptTimeout runs for as
// long as allowed: if a payment has several such requests, all of them pay.
func (r *run) faultOf(through *passage, next step, lost bool) prepaidtest.Fault {
	if next.fault == (prepaidtest.Fault{}) && through.released.After(through.sent.Add(r.options.AttemptTimeout)) {
		next.runs = r.options.InFlightWait
	}
	fault := next.limited(time.Until(r.options.over(through.sent, through.released)) - 2*time.Duration(r.late.Load()))
	if lost {
		fault = prepaidtest.DropBeforeCommit()
	}
	through.wire.endsAs(next.ending)
	r.mu.Lock()
	defer r.mu.Unlock()
	flown := &r.flights[through.flight]
	if !through.released.IsZero() {
		flown.reached = through.released.Sub(r.began)
	}
	if fault != (prepaidtest.Fault{}) && !lost {
		flown.fault = fault.String()
		r.counts.Faults++
		if loses(flown.fault) {
			r.counts.LostResponses++
			flown.fault += ", connection " + next.ending.String()
		}
	}
	return fault
}

// running reports whether an earlier request with this ID still runs. A request past its time limit counts as ended, also on a slow
// machine. If either request was on its way while its process was frozen, the second request waits here until the first ends: no
// lease can prevent this overlap, and the harness cannot freeze a process at a better moment.
func (r *run) running(id prepaid.RequestID, late bool) bool {
	late = late || r.anyLate(id)
	for {
		overlaps, due := !late && r.waiting(id), late
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

// waiting reports whether a cut of the network holds a request with this ID that no reset has discarded: it will arrive later.
func (r *run) waiting(id prepaid.RequestID) bool {
	r.mu.Lock()
	var list []flight
	for _, f := range r.flights {
		if f.requestID == id && f.waiting != nil {
			list = append(list, f)
		}
	}
	r.mu.Unlock()
	return slices.ContainsFunc(list, func(f flight) bool { return !f.waiting.gone() && !f.process.frozenSince(r.began.Add(f.at)) })
}

// anyLate reports whether a request with this ID that may still run was on its way while its process was frozen.
func (r *run) anyLate(id prepaid.RequestID) bool {
	since := r.since() - r.options.AttemptTimeout - r.options.InFlightWait
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.flights, func(f flight) bool {
		return f.requestID == id && f.late && (f.waiting != nil || max(f.at, f.reached) > since)
	})
}

// mostArrivals is how often one payment may be sent. A worker with correct waits needs a tenth of that.
const mostArrivals = 100

// arrive records a request, and returns its step.
func (r *run) arrive(through *passage, flown flight) step {
	flown.at = through.sent.Sub(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastSent = time.Now()
	n := flown.payment
	if r.arrivals[n]++; r.arrivals[n] == mostArrivals {
		r.end(fmt.Errorf("%s was sent %d times", r.orders.list[n].SourceReference, mostArrivals))
	}
	flown.arrival = r.arrivals[n]
	next := r.plan.at(n, flown.arrival)
	next.disturbance = r.next(flown, next.disturbance)
	if r.meets(flown) && next.fault == (prepaidtest.Fault{}) {
		next.runs = r.options.longest()
	}
	if !through.released.IsZero() { // a later response may prove that the earlier request has arrived
		next.held = false
	}
	if next.act == actNetwork && next.held {
		flown.waiting = through.wire
	}
	through.flight = len(r.flights)
	r.flights = append(r.flights, flown)
	r.counts.Requests++
	if flown.overlaps {
		r.counts.Overlaps++
	}
	return next
}

// loses reports whether a fault loses the response.
func loses(fault string) bool {
	return strings.HasPrefix(fault, "commit-then-drop") || strings.HasPrefix(fault, "drop-before-commit") || strings.HasPrefix(fault, "truncate")
}

// act disturbs the process that sent a request, or all processes.
func (r *run) act(through *passage, next step) {
	switch next.act {
	case actKill:
		if through.process.kill("KILLED with the request in flight") {
			r.count(&r.counts.Kills)
		}
	case actKillAfter:
		through.after = true
	case actFreeze:
		if through.process.freeze(next.freeze, r.options.Freeze) {
			r.count(&r.counts.Freezes)
		}
	case actCut:
		through.process.database.cut()
		r.note(event{process: through.process, text: "DATABASE CUT OFF for " + outage.String()})
		r.count(&r.counts.Cuts)
	case actNetwork:
		if r.shut(&through.process.network, next.lasts, event{process: through.process, text: "NETWORK CUT"}, "the network is back") {
			r.count(&r.counts.NetworkCuts)
		}
		if next.kill && through.process.kill("KILLED while the network is cut") {
			r.count(&r.counts.Kills)
		}
	case actService:
		if r.shut(&r.service, next.lasts, event{text: "SERVICE FROZEN"}, "the service continues") {
			r.count(&r.counts.ServiceFreezes)
		}
	case actClockMoves:
		const by = time.Hour
		r.mu.Lock()
		r.moves = append(r.moves, move{r.server.Now(), by})
		r.server.Advance(by)
		r.mu.Unlock()
		r.note(event{text: fmt.Sprintf("the emulator's clock moves on by %s", by)})
		r.count(&r.counts.ClockMoves)
	}
}

// shut shuts a barrier for a time, and notes its start and end. It returns false if the barrier is shut already.
func (r *run) shut(b *barrier, lasts time.Duration, e event, opened string) bool {
	if !b.closeFor(lasts, r.over, &r.background, func() { r.note(event{process: e.process, text: opened}) }) {
		return false
	}
	e.text += " for " + lasts.String()
	r.note(e)
	return true
}

// count counts an event in a field of counts.
func (r *run) count(events *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*events++
}

// note records an event.
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
