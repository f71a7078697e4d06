// Package token keeps one OAuth access token alive for any number of callers.
//
// A [Manager] reuses a token until less than min(10 minutes, half its life) remains. Then a call starts the renewal in the
// background and continues with the token that it has. Callers wait only while there is no valid token, all for the same
// exchange. An exchange belongs to no caller: it does not end with a caller's context and sees none of its values.
//
// What it promises, however many callers there are:
//   - A rejected token is renewed once for all callers that report it.
//   - However short tokens live, and however often they are rejected, there is about one exchange a second at most.
//   - A failed early renewal fails no call. After other failures the pause between exchanges grows up to Options.Hold.
//   - A refused credential is remembered for Options.Hold, and nothing is sent meanwhile.
//   - An idle manager has no goroutine and no timer, and needs no Close.
//   - No token appears in a log, an error or a printed Manager.
//   - A call that finds a valid token takes no lock and allocates nothing.
//
// Lifetimes run on the monotonic clock from a token's arrival, so that setting the wall clock has no effect. Time that the
// monotonic clock does not count (a suspended machine) makes a token look younger than it is; the service then responds with
// 401 once, and the token is renewed.
//
// The package does not know how a token is fetched, does not repeat a request, and does not decide which response means that
// a token was rejected.
package token

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

const (
	// MaxLife caps a token's lifetime, so that no expiry can overflow the clock.
	MaxLife = 365 * 24 * time.Hour
	// DefaultHold is Options.Hold when that is zero. A token that replaced a rejected one is kept for as long, at most,
	// after another 401: a 401 that no token cures, such as a lack of permission, costs one exchange in that time.
	DefaultHold = time.Second

	defaultTimeout = 30 * time.Second

	// renewBefore is the remaining life below which a token is renewed early, as the service recommends. Half the token's
	// life counts when that is less, or else tokens that live under 10 minutes would be renewed by every call.
	renewBefore = 10 * time.Minute
	// minRenewalGap separates the arrival of a token and the exchange that replaces it because of its age. It bounds the
	// rate of exchanges however short tokens live. A rejected token is renewed sooner.
	minRenewalGap = time.Second

	// After a failed exchange callers wait for failedHold, doubled by each further failure up to Options.Hold.
	failedHold = 250 * time.Millisecond
	// After a failed early renewal there is time, since the token is still valid. Expiry ends this hold-off.
	earlyHold    = time.Second
	maxEarlyHold = time.Minute

	// spareLife is how long a spare token serves further calls.
	spareLife = time.Second
)

var (
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("token manager is closed")

	errNoResult = errors.New("prepaid: token exchange ended without a result")
	errUnusable = errors.New("prepaid: token exchange gave no token with a lifetime")
)

// Options adjusts a Manager. The zero value works.
type Options struct {
	// Timeout bounds one exchange; 30 s when zero.
	Timeout time.Duration
	// Hold bounds how long a failed exchange delays the next one, and is how long a refused credential is remembered: a
	// wrong secret stays wrong, and repeating it can lock the client out. DefaultHold when zero.
	Hold time.Duration
	// RejectedCredential reports whether an error of fetch means a refused credential. Nil: none does.
	RejectedCredential func(error) bool
	// Logger gets renewals (debug) and failed early ones (warning). Nil is silent.
	Logger *slog.Logger
	// Renewed is called after every exchange, except one that Close cut off. It runs after the waiting callers were
	// released, perhaps during the next exchange, and must not call Close. Nil is skipped.
	Renewed func(took time.Duration, err error)
}

// Manager keeps one token; see the package comment.
type Manager struct {
	fetch func(context.Context) (*oauth2.Token, error)
	opts  Options
	epoch time.Time // zero of now

	state atomic.Pointer[state] // never nil; stored with mu held

	mu            sync.Mutex
	closed        bool
	pending       *exchange     // the exchange in progress, if any
	failures      int           // exchanges failed since the last success
	failure       error         // of the last of them
	refusedUntil  time.Duration // failure is a refused credential, remembered until then
	nextAwaitedAt time.Duration // earliest start of an exchange that callers wait for
	spare         *state        // fetched for a response that the current token may have caused; nil if there is none
	background    sync.WaitGroup
}

// state is a token and its times on the manager's clock. It does not change once stored.
type state struct {
	token       *oauth2.Token
	renewAt     time.Duration // from here on a call takes the slow path; at most expireAt
	expireAt    time.Duration // 0 without a token and after its rejection
	arrivedAt   time.Duration
	rejected    bool // the service responded with 401 to it
	replacement bool // of a rejected token
}

// is reports whether token is the one in s.
func (s *state) is(token *oauth2.Token) bool {
	return token != nil && s != nil && s.token != nil && (token == s.token || token.AccessToken == s.token.AccessToken)
}

// renewingAt returns s with another time to try its renewal.
func (s *state) renewingAt(at time.Duration) *state {
	next := *s
	next.renewAt = min(at, s.expireAt)
	return &next
}

// NewManager returns a manager that has no token yet. fetch makes one exchange, must return soon after its context ends, and
// returns a token whose Expiry is set; its errors reach the callers as they are.
func NewManager(fetch func(ctx context.Context) (*oauth2.Token, error), opts Options) *Manager {
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.Hold <= 0 {
		opts.Hold = DefaultHold
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Manager{fetch: fetch, opts: opts, epoch: time.Now()}
	m.state.Store(&state{})
	return m
}

// now is the manager's clock: monotonic, and cheaper than time.Now.
func (m *Manager) now() time.Duration { return time.Since(m.epoch) }

// Token returns the current token at once while that is valid, whatever ctx says, and otherwise waits for one until ctx
// ends, which ends no other caller's wait. The token is shared: callers must not change it.
//
// rejected is the token that the service refused, if any. If it is the current one it is renewed, once for all callers that
// report it. If it replaced a rejected token less than DefaultHold ago, it is renewed only once it is that old, since the token
// may not be the cause of the 401: callers that report it wait, the others continue with it. A caller whose deadline is nearer
// gets it again. If it is not the current one, it is ignored.
//
// Errors: those of fetch, ErrClosed, or the context's.
func (m *Manager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	if s := m.state.Load(); m.now() < s.renewAt && !s.is(rejected) {
		return s.token, nil
	}
	token, pending, err := m.join(ctx, rejected)
	if pending == nil {
		return token, err
	}
	return pending.wait(ctx)
}

// join returns the current token if it may be used, or else the exchange to wait for.
func (m *Manager) join(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, *exchange, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, ErrClosed
	}
	now, s := m.now(), m.state.Load()
	if now < s.expireAt && s.is(rejected) {
		if start := m.renewableAt(s); now < start {
			return m.joinHeld(ctx, s, now, start)
		}
		s = &state{token: s.token, arrivedAt: s.arrivedAt, rejected: true}
		m.state.Store(s)
	}
	if now < s.expireAt {
		if now >= s.renewAt && m.pending == nil {
			m.state.Store(s.renewingAt(s.expireAt)) // back to the fast path while it runs
			m.start(now)
		}
		return s.token, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if m.pending == nil {
		if now < m.refusedUntil {
			return nil, nil, m.failure
		}
		start := max(now, m.nextAwaitedAt)
		if s.token != nil && !s.rejected {
			start = max(start, s.arrivedAt+minRenewalGap)
		}
		if m.outlasts(ctx, start-now) {
			return nil, nil, m.failure
		}
		m.start(start)
	} else if m.outlasts(ctx, m.pending.startAt-now) {
		return nil, nil, m.failure
	}
	m.pending.awaited = true
	return nil, m.pending, nil
}

// renewableAt is the earliest start of an exchange because of a 401 to s.
func (m *Manager) renewableAt(s *state) time.Duration {
	if s.replacement {
		return s.arrivedAt + min(m.opts.Hold, DefaultHold)
	}
	return s.arrivedAt
}

// joinHeld returns the exchange that replaces s. It starts at the given time unless one is in progress.
func (m *Manager) joinHeld(ctx context.Context, s *state, now, start time.Duration) (*oauth2.Token, *exchange, error) {
	if m.pending != nil {
		start = m.pending.startAt
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= start-now {
		return s.token, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	held := *s.renewingAt(s.expireAt)
	held.rejected = true
	m.state.Store(&held)
	if m.pending == nil {
		m.start(start)
	}
	m.pending.awaited, m.pending.spare = true, false
	return nil, m.pending, nil
}

// outlasts reports whether a hold-off after a failure ends later than ctx. The caller then gets that failure at once, instead
// of a deadline exceeded after a wait that could not succeed.
func (m *Manager) outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && m.failure != nil && wait > 0 && time.Until(deadline) <= wait
}

// Spare returns a token other than suspect, for a call whose refusal suspect may have caused. suspect stays the shared token.
// The current token is returned if it is another one. One spare token serves all such calls for a second: however many of
// them are refused for another reason, they cost one exchange in that time. While a failed exchange delays the next one, that
// failure is returned.
func (m *Manager) Spare(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	m.mu.Lock()
	now, s, spare := m.now(), m.state.Load(), m.spare
	var token *oauth2.Token
	var err error
	switch {
	case m.closed:
		err = ErrClosed
	case now < s.expireAt && !s.is(suspect):
		token = s.token
	case spare != nil && !spare.is(suspect) && now < min(spare.expireAt, spare.arrivedAt+spareLife):
		token = spare.token
	case m.failure != nil && now < max(m.refusedUntil, m.nextAwaitedAt):
		err = m.failure
	case m.pending == nil:
		m.start(now)
		m.pending.spare = true
	}
	pending := m.pending
	if token == nil && err == nil {
		pending.awaited = true
	}
	m.mu.Unlock()
	if token != nil || err != nil {
		return token, err
	}
	return pending.wait(ctx)
}

// Adopt makes a spare token the shared one if suspect still is.
func (m *Manager) Adopt(token, suspect *oauth2.Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.spare; s.is(token) && m.state.Load().is(suspect) && !m.closed {
		m.state.Store(s)
		m.spare = nil
	}
}

// Close cancels an exchange in progress, waits for it to end and makes later calls fail with ErrClosed. It can be called more
// than once.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed, m.spare = true, nil
	m.state.Store(&state{})
	if m.pending != nil {
		m.pending.cancel()
	}
	m.mu.Unlock()
	m.background.Wait()
}

// backOff doubles base with each of n failures after the first, up to limit.
func backOff(base, limit time.Duration, n int) time.Duration {
	if n > 16 { // far beyond every limit here, far below an overflow
		return limit
	}
	return min(base<<max(0, n-1), limit)
}

// lifeOf returns how long from now token may be used; 0 when it is not usable at all.
func lifeOf(token *oauth2.Token) time.Duration {
	if token == nil || token.AccessToken == "" || token.Expiry.IsZero() {
		return 0
	}
	return min(max(0, time.Until(token.Expiry)), MaxLife)
}

// newState returns the state of a token that arrived just now and follows previous.
func newState(token *oauth2.Token, now time.Duration, previous *state) *state {
	life := lifeOf(token)
	early := max(life-min(renewBefore, life/2), minRenewalGap)
	s := &state{token: token, arrivedAt: now, expireAt: now + life, renewAt: now + min(early, life)}
	s.replacement = previous.rejected
	return s
}
