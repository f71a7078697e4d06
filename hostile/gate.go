package hostile

import (
	"bytes"
	"context"
	"io"
	"net/http"
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
	lost      bool // lost in the network: the request never arrived
}

// event is an event of a run, other than a request.
type event struct {
	at      time.Duration
	process *process // nil if the event concerns all
	text    string
}

// passage is the state of a request that passes through the emulator.
type passage struct {
	process        *process
	wire           *wire
	sent, released time.Time // released is zero if the request was not held
	flight         int       // index in flights; -1 for none
	after          bool      // the process is killed after the response
}

type passageKey struct{}

// ServeHTTP passes a request of a process on to the emulator.
func (r *run) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	through := &passage{flight: -1}
	through.wire, _ = q.Context().Value(wireKey{}).(*wire)
	through.process = through.wire.process
	through.sent, _ = through.wire.state()
	body, err := io.ReadAll(q.Body) // after the end of the body, the server watches the connection
	if err != nil || !through.arrives() {
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	through.awaitService()
	r.server.ServeHTTP(w, q.WithContext(context.WithValue(q.Context(), passageKey{}, through)))
	if through.flight >= 0 {
		now := r.since()
		r.mu.Lock()
		r.flights[through.flight].ended = now
		r.mu.Unlock()
	}
	if through.after {
		_ = http.NewResponseController(w).Flush() // nothing to flush if a fault has cut the connection
		r.kill(through.process, "KILLED with the response just sent")
	}
}

// arrives waits until the network is not cut. It returns false if the process has reset the connection meanwhile: then the request
// never arrives.
func (t *passage) arrives() bool {
	if !t.process.network.pass() {
		return true
	}
	t.released = time.Now()
	_, reset := t.wire.state()
	return !reset
}

// awaitService waits until a frozen service continues. It does not wait for another freeze: between two freezes the service
// runs, and handles the requests that it has received.
func (t *passage) awaitService() {
	if frozen := t.process.run.service.closed(); frozen != nil {
		<-frozen
		t.released = time.Now()
	}
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
	if through.process.frozenSince(through.sent) {
		return prepaidtest.DropBeforeCommit()
	}
	n, known := r.orders.find(a.RequestID, a.Amount)
	if !known {
		return prepaidtest.Fault{} // if this request pays, the report has a movement that was not ordered
	}
	flown := flight{process: through.process, payment: n, number: a.Number, requestID: a.RequestID, overlaps: r.running(a.RequestID)}
	next := r.arrive(through, flown)
	r.act(ctx, through, next)
	return r.faultOf(through, next, r.wait(through, next))
}

// wait holds a request that began a cut of the network or a freeze of the service. It returns when the cut or the freeze is over, and
// reports whether the request arrives.
func (r *run) wait(through *passage, next step) (arrives bool) {
	if next.held && next.act == actNetwork {
		return through.arrives() && !through.process.frozenSince(through.sent)
	}
	if next.held {
		through.awaitService()
	}
	return true
}

// faultOf returns the final fault of a request. A request that was held for longer than AttemptTimeout runs for as
// long as allowed: if a payment has several such requests, all of them pay.
func (r *run) faultOf(through *passage, next step, arrives bool) prepaidtest.Fault {
	if next.fault == (prepaidtest.Fault{}) && through.released.After(through.sent.Add(r.options.AttemptTimeout)) {
		next.runs = r.options.InFlightWait
	}
	fault := next.limited(time.Until(r.options.over(through.sent, through.released)) - 2*time.Duration(r.late.Load()))
	through.wire.endsAs(next.ending)
	r.mu.Lock()
	defer r.mu.Unlock()
	flown := &r.flights[through.flight]
	if !through.released.IsZero() {
		flown.reached = through.released.Sub(r.began)
	}
	if flown.lost = !arrives; flown.lost {
		return prepaidtest.DropBeforeCommit()
	}
	if fault != (prepaidtest.Fault{}) {
		flown.fault = fault.String()
		r.counts.Faults++
	}
	return fault
}

// running reports whether an earlier request with this ID still runs. A request past its time limit counts as ended, also on a slow
// machine: then the second request waits here until the first has ended.
func (r *run) running(id prepaid.RequestID) bool {
	for {
		overlaps, due := false, false
		for _, other := range r.server.RunningTransfers() {
			if other.RequestID == id {
				overlaps, due = true, due || other.Left == 0
			}
		}
		if !due {
			return overlaps
		}
		time.Sleep(time.Millisecond)
	}
}

// arrive records a request, and returns its step.
func (r *run) arrive(through *passage, flown flight) step {
	flown.at = through.sent.Sub(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := flown.payment
	r.arrivals[n]++
	flown.arrival = r.arrivals[n]
	next := r.plan.at(n, flown.arrival)
	next.disturbance = r.next(flown, next.disturbance)
	if r.meets(flown) && next.fault == (prepaidtest.Fault{}) {
		next.runs = r.options.longest()
	}
	if !through.released.IsZero() { // a later response may prove that the earlier request has arrived
		next.held = false
	}
	through.flight = len(r.flights)
	r.flights = append(r.flights, flown)
	r.counts.Requests++
	if flown.overlaps {
		r.counts.Overlaps++
	}
	return next
}

// act disturbs the process that sent a request, or all processes.
func (r *run) act(ctx context.Context, through *passage, next step) {
	p := through.process
	switch next.act {
	case actKill:
		r.kill(p, "KILLED with the request in flight")
	case actKillAfter:
		through.after = true
	case actFreeze:
		r.count(&r.counts.Freezes, r.freeze())
	case actCut:
		r.note(event{text: "DATABASE CUT"})
		r.cutting.Lock()
		err := r.options.Cut(context.WithoutCancel(ctx))
		r.cutting.Unlock()
		if err != nil {
			r.end(err)
		}
		r.count(&r.counts.Cuts, true)
	case actNetwork:
		r.count(&r.counts.NetworkCuts, r.shut(&p.network, next.lasts, event{process: p, text: "NETWORK CUT"}, "the network is back"))
	case actService:
		r.count(&r.counts.ServiceFreezes, r.shut(&r.service, next.lasts, event{text: "SERVICE FROZEN"}, "the service continues"))
	}
}

// kill kills a process, and counts that.
func (r *run) kill(p *process, what string) { r.count(&r.counts.Kills, p.kill(what)) }

// shut shuts a barrier for a time, and notes its start and end. It returns false if the barrier is shut already.
func (r *run) shut(b *barrier, lasts time.Duration, e event, opened string) bool {
	if !b.closeFor(lasts, r.over, &r.background, func() { r.note(event{process: e.process, text: opened}) }) {
		return false
	}
	e.text += " for " + lasts.String()
	r.note(e)
	return true
}

// count counts an event in a field of counts, if it has happened.
func (r *run) count(events *int, happened bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if happened {
		*events++
	}
}

// note records an event.
func (r *run) note(e event) {
	e.at = r.since()
	name := "run"
	if e.process != nil {
		name = e.process.String()
	}
	r.log.Printf("%s: %s", name, e.text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}
