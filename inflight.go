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
// remembered for an hour at least. A call with other params neither settles it nor is sent: the service would answer it
// with the first one's result. It sees this client's calls only; across processes the caller's own store is what keeps
// them apart.
type inFlight struct {
	mu    sync.Mutex
	keys  map[inFlightKey]*inFlightState
	sweep int // size at which stale keys are looked for
}

type inFlightKey struct {
	operation string
	id        RequestID
}

type inFlightState struct {
	turn     chan struct{} // holds the one call under way
	users    int           // it, and those who wait
	payment  payment       // what may have moved, or has while others waited; zero for nothing
	doubtful time.Time     // end of the last unknown outcome; zero when nothing is in doubt
}

// payment is what a request id stands for.
type payment struct {
	source AccountID
	params any // comparable
}

// doubtKept is how long a doubt is remembered at least.
const doubtKept = time.Hour

var (
	errInFlight    = errors.New("a call with this request id may still be under way")
	errEarlierCall = errors.New("a call before this one, whose outcome is unknown")
)

// enter waits for the key's turn. leave must be called with the outcome. doubt is not nil when an earlier call ended
// with an outcome that is still unknown. err is ErrRequestIDReused when that one was another payment.
func (f *inFlight) enter(ctx context.Context, key inFlightKey, p payment, rest time.Duration) (leave func(Outcome), doubt, err error) {
	state := f.join(key, rest)
	select {
	case state.turn <- struct{}{}: // first, so that a context that has ended tells of nothing under way
	default:
		select {
		case state.turn <- struct{}{}:
		case <-ctx.Done():
			f.part(key, state)
			return nil, nil, ctx.Err()
		}
	}
	f.mu.Lock()
	reused := state.payment != (payment{}) && state.payment != p
	wait := time.Duration(0)
	if !state.doubtful.IsZero() {
		doubt = errEarlierCall
		wait = time.Until(state.doubtful.Add(rest))
	}
	f.mu.Unlock()
	switch {
	case reused:
		err = ErrRequestIDReused
	case wait > 0:
		err = sleep(ctx, wait)
	}
	if err != nil {
		<-state.turn
		f.part(key, state)
		return nil, nil, err
	}
	return func(outcome Outcome) {
		f.mu.Lock()
		state.doubtful = time.Time{}
		switch outcome {
		case OutcomeUnknown:
			state.doubtful, state.payment = time.Now(), p
		case OutcomeApplied:
			state.payment = p
		case OutcomeRejected:
			state.payment = payment{}
		case OutcomeNotProcessed: // what was applied before stays so
		}
		f.mu.Unlock()
		<-state.turn
		f.part(key, state)
	}, doubt, nil
}

func (f *inFlight) join(key inFlightKey, rest time.Duration) *inFlightState {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[inFlightKey]*inFlightState)
	}
	if len(f.keys) >= f.sweep {
		for stale, state := range f.keys {
			if state.users == 0 && time.Since(state.doubtful) > max(rest, doubtKept) {
				delete(f.keys, stale)
			}
		}
		f.sweep = max(64, 2*len(f.keys))
	}
	state := f.keys[key]
	if state == nil {
		state = &inFlightState{turn: make(chan struct{}, 1)}
		f.keys[key] = state
	}
	state.users++
	return state
}

// part forgets a key that nobody uses and that holds no doubt.
func (f *inFlight) part(key inFlightKey, state *inFlightState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state.users--; state.users == 0 && state.doubtful.IsZero() {
		delete(f.keys, key)
	}
}
