// Package turns keeps two requests with one request id from being under way at once, and a request id from standing for
// two payments.
//
// The service returns the cached response for a repeat only when the first request is finished: a second one that
// overtakes it may move the money again. So calls with one id take turns at a [Guard], and one that follows an unknown
// outcome waits until it may be sent.
//
// The package promises:
//   - between Enter and Leave, a call is the only one with its id;
//   - an unknown outcome is remembered, however many there are, until a later call with the id learns the outcome;
//   - the payments that were made are remembered, the last 65,536 of them: the service would return their result for any
//     other payment with their id;
//   - of a payment only a keyed digest is kept, so that a memory dump does not reveal who was paid.
//
// It does not decide when a request may be repeated, which is handed in, nor what a response proves. It knows the calls of
// one Guard only: across processes the caller's own store keeps them apart.
package turns

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/pause"
)

var (
	// ErrOtherPayment means that the id stands for another payment, which was made or whose outcome is unknown.
	ErrOtherPayment = errors.New("request id of another payment")
	// ErrInFlight is why a call is not sent whose wait for its turn, or until it may repeat an earlier one, was cut short.
	ErrInFlight = errors.New("a call with this request id may still be in flight")
)

// Payment is what a call sends under an id. Neither Operation nor Source holds a NUL.
type Payment struct {
	ID        string
	Operation string
	Source    string
	Body      []byte // as it is sent; not kept
}

// Result is how a call ended.
type Result int

const (
	// Unknown means that the payment may have been made, or may still be.
	Unknown Result = iota
	// Applied means that the payment was made.
	Applied
	// NotApplied means that it was not, and cannot be any more.
	NotApplied
)

// Guard lets calls with one id in one by one. It is safe for concurrent use.
type Guard struct {
	notBefore func(lastSent time.Time) time.Time

	mu      sync.Mutex
	ids     map[string]*state
	spare   []*state
	digests digester
	applied appliedPayments
}

// New returns a Guard. notBefore returns when a request that was last sent at lastSent may be sent again.
func New(notBefore func(lastSent time.Time) time.Time) *Guard {
	return &Guard{notBefore: notBefore, ids: make(map[string]*state), digests: newDigester(), applied: newAppliedPayments()}
}

// state is what is known of an id that is in use or whose outcome is unknown.
type state struct {
	turn      chan struct{} // full while a call is under way
	users     int           // that call, and those that wait
	payment   digest        // whose outcome is unknown
	notBefore time.Time     // when that may be sent again; zero when nothing is unknown
}

// maxSpare is how many unused states are kept for other ids.
const maxSpare = 64

// Turn is the right to send under an id. The caller must call Leave.
type Turn struct {
	// NotBefore is when an earlier call of unknown outcome may be repeated; zero when there is none.
	NotBefore time.Time
	// Applied means that an earlier call has made the payment.
	Applied bool

	guard   *Guard
	id      string
	state   *state
	payment digest
}

// Enter waits for the turn of a call. The error is [ErrOtherPayment] or the context's, which leaves
// [ErrInFlight] as its reason and sets NotBefore, when to try again. After an error there is no turn to leave.
func (g *Guard) Enter(ctx context.Context, p Payment) (Turn, error) {
	t := Turn{guard: g, id: p.ID, state: g.join(p.ID)}
	select {
	case t.state.turn <- struct{}{}: // first, so that a context that has ended reports nothing under way
	default:
		select {
		case t.state.turn <- struct{}{}:
		case <-ctx.Done():
			g.leave(t.id, t.state)
			t.NotBefore = g.notBefore(time.Now())
			return t, ctx.Err()
		}
	}
	g.mu.Lock()
	t.payment = g.digests.of(&p)
	t.NotBefore = t.state.notBefore
	made, known := g.applied.get(t.id)
	t.Applied = known && made == t.payment
	g.mu.Unlock()
	err, wait := error(nil), time.Until(t.NotBefore)
	switch {
	case !t.NotBefore.IsZero() && t.state.payment != t.payment, known && made != t.payment:
		err = ErrOtherPayment
	case wait > 0:
		err = pause.For(ctx, wait)
	}
	if err != nil {
		<-t.state.turn
		g.leave(t.id, t.state)
	}
	return t, err
}

// Leave ends the turn. notBefore is when a payment of unknown outcome may be repeated. If it is zero, as after a panic, the
// request may have been sent just now.
func (t *Turn) Leave(result Result, notBefore time.Time) {
	g := t.guard
	g.mu.Lock()
	t.state.notBefore = time.Time{}
	switch result {
	case Unknown:
		if notBefore.IsZero() {
			notBefore = g.notBefore(time.Now())
		}
		t.state.notBefore, t.state.payment = notBefore, t.payment
	case Applied:
		g.applied.add(t.id, t.payment)
	case NotApplied:
	}
	g.mu.Unlock()
	<-t.state.turn
	g.leave(t.id, t.state)
}

// join returns the state of an id, which stays the same until all that joined have left.
func (g *Guard) join(id string) *state {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.ids[id]
	if s == nil {
		if last := len(g.spare) - 1; last >= 0 {
			s, g.spare = g.spare[last], g.spare[:last]
		} else {
			s = &state{turn: make(chan struct{}, 1)}
		}
		g.ids[id] = s
	}
	s.users++
	return s
}

// leave forgets an id that nobody uses and of which nothing is unknown.
func (g *Guard) leave(id string, s *state) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.users--; s.users == 0 && s.notBefore.IsZero() {
		delete(g.ids, id)
		if len(g.spare) < maxSpare {
			g.spare = append(g.spare, s)
		}
	}
}
