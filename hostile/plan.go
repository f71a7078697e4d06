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
	actNone       action = iota
	actKill              // while the request is in flight
	actKillAfter         // when the response has just been sent
	actFreeze            // while the request is in flight
	actCut               // its connections to the database are cut before the response arrives
	actClockMoves        // after the token of the request was checked
	actNetwork           // the network of the copy is cut
	actService           // the service is frozen
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
	kill  bool          // with actNetwork: the copy is killed meanwhile
	waits int           // for how many requests at most actFreeze waits for the right one

	freeze *freeze // of actFreeze
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

// longest returns how long a request may take from its start until the service has carried it out.
func (o Options) longest() time.Duration { return o.AttemptTimeout + o.InFlightWait - o.spare() }

// spare returns a margin before the time of a repeat, since part of a request's way to the service cannot be measured.
func (o Options) spare() time.Duration { return (o.AttemptTimeout + o.InFlightWait) / 20 }

// over returns the latest end of a request: the end of AttemptTimeout or, if later, the release, plus InFlightWait minus spare.
func (o Options) over(sent, released time.Time) time.Time {
	from := sent.Add(o.AttemptTimeout)
	if released.After(from) {
		from = released
	}
	return from.Add(o.InFlightWait - o.spare())
}

// newPlan plans the steps of all payments of a run.
func newPlan(o Options, s *orders) plan {
	p := make(plan)
	r := o.random(streamFaults)
	kinds := r.Perm(kindsOfFaults)
	faulty := int(math.Ceil(o.Faults * float64(len(s.list))))
	for i, n := range r.Perm(len(s.list))[:faulty] { // kinds take turns, so that a short run has all kinds
		p[n] = o.faults(r, kinds[i%len(kinds)])
	}
	r = o.random(streamActions)
	shuffled := r.Perm(len(s.list))
	for _, what := range []struct {
		act   action
		times int
	}{{actKill, o.Kills}, {actFreeze, o.Freezes}, {actCut, o.Cuts}, {actClockMoves, o.ClockMoves}, {actNetwork, o.NetworkCuts}, {actService, o.ServiceFreezes}} {
		for done := 0; done < what.times; shuffled = shuffled[1:] {
			if n := shuffled[0]; !s.rolledBack[n] {
				p[n] = o.with(r, what.act, p[n])
				done++
			}
		}
	}
	return p
}

// faults plans the steps of a payment that has faults: up to three arrivals in sequence fail, the first with the given kind.
// Some arrivals do not fail but run for a long time: a repeat that does not wait for such a request pays a second time.
func (o Options) faults(r *rand.Rand, kind int) (steps []step) {
	if first, _ := o.fault(r, kind); kind == 2 || kind > 13 {
		return []step{first}
	}
	for range 1 + r.IntN(3) {
		next, unknown := o.fault(r, kind)
		steps = append(steps, next)
		if unknown && r.IntN(2) == 0 { // a refusal follows, perhaps after a fault that is retried at once
			if passing := []prepaidtest.Fault{{}, {}, prepaidtest.TooManyRequests(0), prepaidtest.ExpireToken()}[r.IntN(4)]; passing != (prepaidtest.Fault{}) {
				steps = append(steps, step{fault: passing})
			}
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

// ending returns how a connection ends; half of the ends come before the worker's time-out, but not at once.
func (o Options) ending(r *rand.Rand) ending {
	e := ending{how: how(r.IntN(int(kindsOfEndings)))}
	if after := r.Int64N(int64(o.AttemptTimeout)); r.IntN(2) == 0 {
		e.after = time.Duration(after).Round(time.Microsecond)
	}
	return e
}

const kindsOfFaults = 17

// fault returns a step that is possible for any request. If unknown is true, a refusal of the next request proves
// nothing. Otherwise that refusal would prove that nothing moved, and a worker could abandon the payment.
func (o Options) fault(r *rand.Rand, kind int) (next step, unknown bool) {
	gateway := []int{408, 502, 503, 504}[r.IntN(4)]
	held, end := o.held(r), o.ending(r)
	switch kind {
	case 0:
		return step{fault: prepaidtest.CommitThenDrop(), ending: end}, true
	case 1:
		return step{fault: prepaidtest.DropBeforeCommit(), ending: end}, true
	case 2, 3, 4:
		return step{fault: prepaidtest.DropBeforeCommit(), ending: end, runs: held}, true
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
	case act == actFreeze:
		first.waits = 10
	case act == actKill && r.IntN(4) == 0:
		first.act = actKillAfter
	case act == actKill && r.IntN(3) == 0:
		first.fault = prepaidtest.DropBeforeCommit()
	case act == actKill && r.IntN(2) == 0:
		first.runs = held
	case act == actNetwork:
		first.lasts, first.held, first.kill = o.NetworkCut, r.IntN(2) == 0, r.IntN(4) == 0
		if r.IntN(3) == 0 { // shorter than any wait
			first.lasts = time.Duration(r.Int64N(int64(o.AttemptTimeout + o.InFlightWait/2))).Round(time.Millisecond)
		}
	case act == actService:
		first.lasts, first.held = o.ServiceFreeze, true
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
