package prepaid

import (
	"context"
	"errors"
	"sync"
	"time"
)

// inFlight keeps two requests with one request id from being under way at once. The service answers a repeat from its
// cache only when the first is finished: a second one that overtakes it may move the money again. So calls with the
// same key take turns, and one that follows an unknown outcome waits until the first has had time to finish.
//
// A doubt stays until a later call succeeds or is refused in a way that settles it (see [SettlesDoubt]); it is
// remembered for as long as the id may be sent, or an hour when there are very many. A call with other params neither settles it nor is sent: the service would answer it
// with the first one's result. It sees this client's calls only; across processes the caller's own store is what keeps
// them apart.
type inFlight struct {
	mu    sync.Mutex
	keys  map[RequestID]*inFlightState
	sweep int // size at which stale keys are looked for
	spare []*inFlightState
}

type inFlightState struct {
	head     chan struct{} // holds the one call under way
	users    int           // it, and those who wait
	payment  payment       // what may have moved, or has while others waited; zero for nothing
	applied  bool          // it has
	doubtful time.Time     // end of the last unknown outcome; zero when nothing is in doubt
}

// payment is what a request id stands for. Its params also tell the operation: whether two operations share their ids
// is not known, so an id stands for one payment of either.
type payment struct {
	source AccountID
	params any // comparable
}

// A doubt is remembered until its request id would be refused as too old or, when there are many, for an hour at least.
const (
	doubtKept  = requestIDMaxAge
	doubtLeast = time.Hour
	manyDoubts = 1 << 16
)

// maxSpare is how many states of keys that are over are kept for others.
const maxSpare = 64

var (
	errInFlight    = errors.New("a call with this request id may still be under way")
	errEarlierCall = errors.New("a call before this one, whose outcome is unknown")
)

// turn is a place at the head of a key's line. leave must be called with the outcome.
type turn struct {
	line    *inFlight
	key     RequestID
	state   *inFlightState
	payment payment
	doubt   error // that an earlier call ended with an outcome which is still unknown
}

// enter waits for the key's turn. The error is ErrRequestIDReused when what may have moved was another payment.
func (f *inFlight) enter(ctx context.Context, key RequestID, p payment, rest time.Duration) (turn, error) {
	t := turn{line: f, key: key, state: f.join(key, rest), payment: p}
	select {
	case t.state.head <- struct{}{}: // first, so that a context that has ended tells of nothing under way
	default:
		select {
		case t.state.head <- struct{}{}:
		case <-ctx.Done():
			f.part(key, t.state)
			return turn{}, ctx.Err()
		}
	}
	f.mu.Lock()
	reused := t.state.payment != (payment{}) && t.state.payment != p
	wait := time.Duration(0)
	if !t.state.doubtful.IsZero() {
		t.doubt = errEarlierCall
		wait = time.Until(t.state.doubtful.Add(rest))
	}
	f.mu.Unlock()
	err := error(nil)
	switch {
	case reused:
		err = ErrRequestIDReused
	case wait > 0:
		err = sleep(ctx, wait)
	}
	if err != nil {
		<-t.state.head
		f.part(key, t.state)
		return turn{}, err
	}
	return t, nil
}

// leave lets the next one in.
func (t *turn) leave(outcome Outcome) {
	t.line.mu.Lock()
	t.state.doubtful = time.Time{}
	switch outcome {
	case OutcomeUnknown:
		t.state.doubtful, t.state.payment = time.Now(), t.payment
	case OutcomeApplied:
		t.state.payment, t.state.applied = t.payment, true
	case OutcomeRejected:
		if !t.state.applied {
			t.state.payment = payment{}
		}
	case OutcomeNotProcessed:
	}
	t.line.mu.Unlock()
	<-t.state.head
	t.line.part(t.key, t.state)
}

func (f *inFlight) join(key RequestID, rest time.Duration) *inFlightState {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[RequestID]*inFlightState)
	}
	if len(f.keys) >= f.sweep {
		kept := max(rest, doubtKept)
		if len(f.keys) >= manyDoubts {
			kept = max(rest, doubtLeast)
		}
		for stale, state := range f.keys {
			if state.users == 0 && time.Since(state.doubtful) > kept {
				delete(f.keys, stale)
			}
		}
		f.sweep = max(64, 2*len(f.keys))
	}
	state := f.keys[key]
	if state == nil {
		if last := len(f.spare) - 1; last >= 0 {
			state, f.spare = f.spare[last], f.spare[:last]
		} else {
			state = &inFlightState{head: make(chan struct{}, 1)}
		}
		f.keys[key] = state
	}
	state.users++
	return state
}

// part forgets a key that nobody uses and that holds no doubt.
func (f *inFlight) part(key RequestID, state *inFlightState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state.users--; state.users == 0 && state.doubtful.IsZero() {
		delete(f.keys, key)
		state.payment, state.applied = payment{}, false
		if len(f.spare) < maxSpare {
			f.spare = append(f.spare, state)
		}
	}
}
