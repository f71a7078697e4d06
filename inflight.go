package prepaid

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

// inFlight keeps two requests with one request id from being under way at once, and a request id from standing for two
// payments. The service returns the cached response for a repeat only when the first is finished: a second one that
// overtakes it may move the money again. So calls with the same id take turns, and one that follows an unknown outcome
// waits until [AccountsService.NotBefore].
//
// An unknown outcome is remembered, however many there are, until a later call settles it. The params of a payment that
// was made are remembered among the last settledIDs: the service would return its result for any others. All this is of
// one client's calls; across processes the caller's own store keeps them apart.
type inFlight struct {
	repeats *repeatRule

	mu      sync.Mutex
	ids     map[RequestID]*inFlightState
	spare   []*inFlightState
	digests digester
	settled settledPayments
}

type inFlightState struct {
	head      chan struct{} // holds the one call under way
	users     int           // it, and those that wait
	payment   digest        // of the unknown outcome
	notBefore time.Time     // when that may be sent again; zero when nothing is unknown
}

// maxSpare is how many states of ids that are over are kept for others.
const maxSpare = 64

var (
	errInFlight    = errors.New("a call with this request id may still be under way")
	errEarlierCall = errors.New("a call before this one, whose outcome is unknown")
)

// turn is a place at the head of an id's line. leave must be called with the outcome.
type turn struct {
	line      *inFlight
	id        RequestID
	state     *inFlightState
	payment   digest
	notBefore time.Time // from which an earlier call of unknown outcome may be repeated; zero when there is none
	moved     bool      // the payment was made by an earlier call
}

// enter waits for the turn of the request, whose body is encoded. The error is ErrRequestIDReused when the id stands for
// another payment; after any other, the turn's notBefore is when to try again.
func (f *inFlight) enter(ctx context.Context, r *request) (turn, error) {
	t := turn{line: f, id: r.requestID, state: f.join(r.requestID)}
	select {
	case t.state.head <- struct{}{}: // first, so that a context that has ended reports nothing under way
	default:
		select {
		case t.state.head <- struct{}{}:
		case <-ctx.Done():
			f.part(t.id, t.state)
			t.notBefore = f.repeats.notBefore(time.Now())
			return t, ctx.Err()
		}
	}
	f.mu.Lock()
	t.payment = f.digests.of(r)
	t.notBefore = t.state.notBefore
	was, known := f.settled.get(t.id)
	t.moved = known && was == t.payment
	f.mu.Unlock()
	err, wait := error(nil), time.Until(t.notBefore)
	switch {
	case !t.notBefore.IsZero() && t.state.payment != t.payment, known && was != t.payment:
		err = ErrRequestIDReused
	case wait > 0:
		err = pause.For(ctx, wait)
	}
	if err != nil {
		<-t.state.head
		f.part(t.id, t.state)
	}
	return t, err
}

// leave lets the next one in. notBefore is that of an unknown outcome.
func (t *turn) leave(outcome Outcome, notBefore time.Time) {
	f := t.line
	f.mu.Lock()
	t.state.notBefore = time.Time{}
	switch outcome {
	case OutcomeUnknown:
		if notBefore.IsZero() { // a panic
			notBefore = f.repeats.notBefore(time.Now())
		}
		t.state.notBefore, t.state.payment = notBefore, t.payment
	case OutcomeApplied:
		f.settled.add(t.id, t.payment)
	case OutcomeRejected, OutcomeNotProcessed:
	}
	f.mu.Unlock()
	<-t.state.head
	f.part(t.id, t.state)
}

func (f *inFlight) join(id RequestID) *inFlightState {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids == nil {
		f.ids = make(map[RequestID]*inFlightState)
	}
	state := f.ids[id]
	if state == nil {
		if last := len(f.spare) - 1; last >= 0 {
			state, f.spare = f.spare[last], f.spare[:last]
		} else {
			state = &inFlightState{head: make(chan struct{}, 1)}
		}
		f.ids[id] = state
	}
	state.users++
	return state
}

// part forgets an id that nobody uses and of which nothing is unknown.
func (f *inFlight) part(id RequestID, state *inFlightState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state.users--; state.users == 0 && state.notBefore.IsZero() {
		delete(f.ids, id)
		if len(f.spare) < maxSpare {
			f.spare = append(f.spare, state)
		}
	}
}
