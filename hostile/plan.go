package hostile

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// action disturbs the copy that has sent a request.
type action int

const (
	actNone      action = iota
	actKill             // while the request is in flight
	actKillAfter        // when the response has just been sent
	actFreeze           // while the request is in flight
	actCut              // the connections to the database are cut before the response arrives
	actNetwork          // the network of the copy is cut
	actService          // the service is frozen
)

// step is the plan for one arrival of one payment.
type step struct {
	fault  prepaidtest.Fault
	ending ending        // of the connection, if the fault closes it
	runs   time.Duration // how long the request takes if it is carried out
	disturbance
}

// disturbance is the action of a step.
type disturbance struct {
	act   action
	lasts time.Duration // duration of actNetwork or actService
	held  bool          // the request waits for the end of actNetwork or actService; otherwise the response waits
}

// limited returns the fault of a step. With this fault the request takes at most the duration left.
func (s step) limited(left time.Duration) prepaidtest.Fault {
	runs := max(time.Microsecond, min(s.runs, left))
	switch {
	case s.runs == 0:
		return s.fault
	case s.fault == (prepaidtest.Fault{}):
		return prepaidtest.Delay(runs)
	}
	return s.fault.CommitAfter(runs)
}

// plan has the steps of each payment, by arrival. It depends on the options alone.
type plan map[int][]step

// Streams of random numbers: draws from one do not change the others.
const (
	streamOrders uint64 = iota
	streamFaults
	streamActions
)

func (o Options) random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(o.Seed, stream)) //nolint:gosec // chance, not a secret
}

// newPlan plans the steps of all payments of a run.
func newPlan(o Options) plan {
	p := make(plan)
	r := o.random(streamFaults)
	kinds := r.Perm(kindsOfFaults)
	faulty := int(math.Ceil(o.Faults * float64(o.Payments)))
	for i, n := range r.Perm(o.Payments)[:faulty] { // kinds take turns, so that a short run has all kinds
		p[n] = o.faults(r, kinds[i%len(kinds)])
	}
	r = o.random(streamActions)
	shuffled := r.Perm(o.Payments)
	for _, what := range []struct {
		act   action
		times int
	}{{actKill, o.Kills}, {actFreeze, o.Freezes}, {actCut, o.Cuts}, {actNetwork, o.NetworkCuts}, {actService, o.ServiceFreezes}} {
		for _, n := range shuffled[:what.times] {
			p[n] = o.with(r, what.act, p[n])
		}
		shuffled = shuffled[what.times:]
	}
	return p
}

// faults plans the steps of a payment that has faults: up to three arrivals in sequence fail, the first with the given kind.
// Some arrivals do not fail but run for a long time: a repeat that does not wait for such a request pays a second time.
func (o Options) faults(r *rand.Rand, kind int) (steps []step) {
	first, _ := o.fault(r, kind)
	if kind <= 2 || kind >= slow { // the payment has no other fault, which could hide an early repeat
		return []step{first}
	}
	for range 1 + r.IntN(3) {
		next, unknown := o.fault(r, kind)
		steps = append(steps, next)
		if unknown && r.IntN(2) == 0 {
			steps = append(steps, step{fault: refusal(r)})
		}
		kind = r.IntN(kindsOfFaults)
	}
	return steps[:min(len(steps), 3)]
}

// held returns how long a slow request takes: from half of longest to longest.
func (o Options) held(r *rand.Rand) time.Duration {
	longest := o.longest()
	return (longest - time.Duration(r.Int64N(int64(longest/2)))).Round(time.Microsecond)
}

// The kinds of faults; a kind of slow or more has none.
const slow, kindsOfFaults = 14, 17

// fault returns a step that is possible for any request. If unknown is true, a refusal of the next request proves
// nothing. Otherwise that refusal would prove that nothing moved, and a worker could abandon the payment.
func (o Options) fault(r *rand.Rand, kind int) (next step, unknown bool) {
	gateway := []int{408, 502, 503, 504}[r.IntN(4)]
	held, end := o.held(r), o.ending(r)
	switch kind {
	case 0, 1, 2:
		return step{fault: prepaidtest.DropBeforeCommit(), ending: end, runs: held}, true
	case 3:
		return step{fault: prepaidtest.DropBeforeCommit(), ending: end}, true
	case 4:
		return step{fault: prepaidtest.CommitThenDrop(), ending: end}, true
	case 5, 6:
		return step{fault: prepaidtest.ProxyPage(gateway), runs: held}, true
	case 7:
		return step{fault: prepaidtest.ProxyPage([]int{200, 200, 403, 404, 409, gateway}[r.IntN(6)])}, true
	case 8:
		return step{fault: prepaidtest.Respond(500, ""), runs: held}, true // money may move nevertheless
	case 9:
		return step{fault: prepaidtest.Truncate(), ending: end}, true
	case 10:
		return step{fault: prepaidtest.SubstituteContentType("text/html")}, true
	case 11:
		return step{fault: prepaidtest.TooManyRequests(0)}, false
	case 12:
		return step{fault: prepaidtest.ExpireToken()}, false
	case 13:
		return step{fault: prepaidtest.Respond([]int{500, 502, 503}[r.IntN(3)], "")}, true
	}
	return step{runs: held}, held > o.AttemptTimeout
}

// refusal returns a refusal in the service's own form. It proves nothing about an earlier request.
func refusal(r *rand.Rand) prepaidtest.Fault {
	switch r.IntN(5) {
	case 0:
		return prepaidtest.Respond(403, "forbidden")
	case 1:
		return prepaidtest.Respond(409, "duplicate_request")
	case 2:
		return prepaidtest.Respond(400, "duplicate_request")
	}
	return prepaidtest.Respond(404, "account_not_found")
}

// with puts an action before the steps of a payment. When a copy is killed or frozen, its request continues, or the response is
// lost. After half of the kills, the next request is refused; this refusal proves nothing. No refusal follows a freeze, since it
// would hide a lease that is too short.
func (o Options) with(r *rand.Rand, act action, steps []step) []step {
	first := step{disturbance: disturbance{act: act}}
	switch held := o.held(r); {
	case act == actKill && r.IntN(4) == 0:
		first.act = actKillAfter
	case act == actKill && r.IntN(3) == 0:
		first.fault = prepaidtest.DropBeforeCommit()
	case act == actKill && r.IntN(2) == 0:
		first.runs = held
	case act == actNetwork:
		first.lasts, first.held = o.outage(), r.IntN(2) == 0
		if r.IntN(3) == 0 { // shorter than any wait
			first.lasts = time.Duration(r.Int64N(int64(o.AttemptTimeout + o.InFlightWait/2))).Round(time.Millisecond)
		}
	case act == actService:
		first.lasts, first.held = o.outage(), true
	}
	if act == actKill && r.IntN(2) == 0 {
		return append([]step{first, {fault: refusal(r)}}, steps...)
	}
	return append([]step{first}, steps...)
}

// at returns the step of an arrival of a payment. Arrivals count from 1.
func (p plan) at(payment, arrival int) step {
	if steps := p[payment]; arrival <= len(steps) {
		return steps[arrival-1]
	}
	return step{}
}
