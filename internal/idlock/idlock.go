// Package idlock admits only one request at a time with the same request ID, and prevents the use of a request ID for
// two payments.
//
// The service returns the cached response for a repeat only if the first request is finished: a repeat that overtakes the
// first request may move the money again. So a [Guard] admits calls with the same ID one by one, and a call after an unknown outcome gets
// the time before which it may not be sent.
//
// The package promises:
//   - between Enter and Leave, a call is the only one with its ID;
//   - every unknown outcome is remembered until a later call with the ID learns the outcome;
//   - the last 65,536 payments that were made are remembered, and no other payment may use their IDs: the service would return
//     the result of the remembered payment;
//   - only a keyed digest of a payment is kept, so that a memory dump does not reveal the payee.
//
// The package does not wait for [Lock].Unknown, decide when a request may be repeated, or judge a response. It knows only the
// calls of one Guard. Across processes, the caller must keep calls with the same ID apart, and pass on unknown outcomes as Unknown.
package idlock

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"sync"

	"github.com/cardprograms/prepaid/internal/liveness"
)

var (
	// ErrOtherPayment means that the ID was used for another payment, which was made or whose outcome is unknown.
	ErrOtherPayment = errors.New("request ID of another payment")
	// ErrInFlight means that a call was not sent: its context ended while the call waited for the per-ID lock.
	ErrInFlight = errors.New("a call with this request ID may still be in flight")
)

// Payment is the request of a call with an ID. Operation and Source must not contain NUL.
type Payment struct {
	ID        string
	Operation string
	Source    string
	Body      []byte // as sent; not kept
	// Unknown is a request of unknown outcome that the caller knows of and this Guard has not seen; zero if there is none.
	Unknown liveness.Request
}

// Guard admits calls with the same ID one by one. It is safe for concurrent use.
type Guard struct {
	sentNow func() liveness.Request

	mu      sync.Mutex
	ids     map[string]*state
	spare   []*state
	digests digester
	applied appliedPayments
}

// New returns a Guard. sentNow returns a request that is sent at the time of its call.
func New(sentNow func() liveness.Request) *Guard {
	return &Guard{sentNow: sentNow, ids: make(map[string]*state), digests: newDigester(), applied: newAppliedPayments()}
}

// state is the state of an ID that is in use or whose outcome is unknown.
type state struct {
	held    chan struct{}    // full while a call is in progress
	users   int              // number of calls in progress or waiting
	payment digest           // the payment with unknown outcome
	unknown liveness.Request // the last request of that payment; zero if no outcome is unknown
}

// maxSpare is how many unused states are kept for other IDs.
const maxSpare = 64

// Lock is the right to send with an ID. The caller must call Leave or LeaveUnknown.
type Lock struct {
	// Unknown is the last request of an earlier call of unknown outcome; zero if there is no such call. The holder of the lock waits
	// until it may be repeated.
	Unknown liveness.Request
	// Applied means that an earlier call made the payment.
	Applied bool

	guard   *Guard
	id      string
	key     idHash
	state   *state
	payment digest
}

// Enter waits for the per-ID lock. The error is [ErrOtherPayment] or the context's error. A context error means [ErrInFlight]: the
// returned Lock has a request of the present time. After an error, do not call Leave.
func (g *Guard) Enter(ctx context.Context, p Payment) (Lock, error) {
	t := Lock{guard: g, id: p.ID, state: g.join(p.ID)}
	select {
	case t.state.held <- struct{}{}: // tried first: an ended context must not look like a call in progress
	default:
		select {
		case t.state.held <- struct{}{}:
		case <-ctx.Done():
			g.mu.Lock()
			g.leave(t.id, t.state)
			g.mu.Unlock()
			t.Unknown = g.sentNow()
			return t, ctx.Err()
		}
	}
	g.mu.Lock()
	t.payment = g.digests.of(&p)
	t.Unknown = t.state.unknown
	t.key = g.applied.hash(t.id)
	made, known := g.applied.payments[t.key]
	t.Applied = known && made == t.payment
	other := !t.Unknown.IsZero() && t.state.payment != t.payment || known && made != t.payment
	if !other && p.Unknown.NotBefore.After(t.Unknown.NotBefore) { // remembered even if this call is not sent
		t.Unknown, t.state.unknown, t.state.payment = p.Unknown, p.Unknown, t.payment
	}
	g.mu.Unlock()
	if !other {
		return t, nil
	}
	<-t.state.held
	g.mu.Lock()
	g.leave(t.id, t.state)
	g.mu.Unlock()
	return t, ErrOtherPayment
}

// Leave releases the lock when it is known whether the payment was made. A payment that was not made can no longer be made.
func (t *Lock) Leave(applied bool) {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	if t.state.unknown = (liveness.Request{}); applied {
		t.guard.applied.add(t.key, t.payment)
	}
	<-t.state.held // does not wait
	t.guard.leave(t.id, t.state)
}

// LeaveUnknown releases the lock when the payment may have been made, or may still be made, by the request last. Zero, as after a
// panic, means that the request may have been sent just now.
func (t *Lock) LeaveUnknown(last liveness.Request) {
	t.guard.mu.Lock()
	defer t.guard.mu.Unlock()
	if last.IsZero() {
		last = t.guard.sentNow()
	}
	t.state.unknown, t.state.payment = last, t.payment
	<-t.state.held // does not wait
	t.guard.leave(t.id, t.state)
}

// join returns the state of an ID. The state stays the same until every caller of join has called leave.
func (g *Guard) join(id string) *state {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.ids[id]
	if s == nil {
		if last := len(g.spare) - 1; last >= 0 {
			s, g.spare = g.spare[last], g.spare[:last]
		} else {
			s = &state{held: make(chan struct{}, 1)}
		}
		g.ids[id] = s
	}
	s.users++
	return s
}

// leave forgets an ID that is unused and has no unknown outcome. The caller holds mu.
func (g *Guard) leave(id string, s *state) {
	if s.users--; s.users == 0 && s.unknown.IsZero() {
		delete(g.ids, id)
		if len(g.spare) < maxSpare {
			g.spare = append(g.spare, s)
		}
	}
}

// maxApplied is how many payments are remembered.
const maxApplied = 1 << 16

// appliedPayments holds the digests of the last maxApplied payments by ID: 48 bytes each, plus the overhead of a map. It holds
// only hashes of IDs: an ID can have 100 characters, and can keep a much longer text in memory. Without the seeds no caller can
// choose IDs that collide; by chance, two IDs collide in fewer than one of 2^90 clients. A collision refuses a payment
// that was never sent.
type appliedPayments struct {
	payments map[idHash]digest
	order    []idHash // a ring once it is full
	oldest   int
	seeds    [2]maphash.Seed
}

type idHash [2]uint64

func newAppliedPayments() appliedPayments {
	return appliedPayments{payments: make(map[idHash]digest), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (a *appliedPayments) hash(id string) idHash {
	return idHash{maphash.String(a.seeds[0], id), maphash.String(a.seeds[1], id)}
}

func (a *appliedPayments) add(key idHash, payment digest) {
	if _, known := a.payments[key]; known {
		return
	}
	if len(a.order) < maxApplied {
		a.order = append(a.order, key)
	} else {
		delete(a.payments, a.order[a.oldest])
		a.order[a.oldest] = key
		a.oldest = (a.oldest + 1) % maxApplied
	}
	a.payments[key] = payment
}

// digest identifies the content of a payment. It is cryptographic, because two payments with the same digest would count as the
// same. Its key prevents chosen collisions and hides the payee in a memory dump.
type digest [16]byte

// digester computes digests: SHA-256 of a random key and the payment, truncated to 128 bits. HMAC would protect against
// extending a payment whose whole hash is known, but no hash is visible, and half of each is dropped.
type digester struct {
	keySize int
	text    []byte // the key, and space for a payment
}

func newDigester() digester {
	key := make([]byte, sha256.Size, 512)
	_, _ = rand.Read(key) // never fails
	return digester{keySize: len(key), text: key}
}

// of returns the digest of everything except the ID.
func (d *digester) of(p *Payment) digest {
	text := append(append(d.text[:d.keySize], p.Operation...), 0)
	text = append(append(text, p.Source...), 0)
	text = append(text, p.Body...)
	sum := sha256.Sum256(text)
	clear(text[d.keySize:])
	d.text = text
	return digest(sum[:len(digest{})])
}
