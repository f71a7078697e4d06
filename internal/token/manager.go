// Package token keeps one OAuth access token alive for any number of callers.
//
// A [Manager] reuses a token until less than 10 minutes remain. A token that lives 10 minutes or less is reused for half its life.
// After that, the next call starts the renewal in the background and continues with the current token. Callers wait only while there
// is no valid token, and all wait for the same exchange. A caller's context does not end an exchange or pass values to it.
//
// Guarantees, for any number of callers:
//   - A refused token is never given out again. It is renewed once for all callers.
//   - There is at most about one exchange a second, even if tokens are short-lived or often refused.
//   - If an early renewal fails, no call fails. After other failures the pause between exchanges grows up to Options.Hold.
//   - A refused credential is remembered for Options.Hold, and nothing is sent meanwhile.
//   - An idle manager has no goroutine and no timer, and needs no Close.
//   - No token appears in a log, an error or a printed Manager.
//   - A call that finds a valid token takes no lock and allocates nothing.
//
// Lifetimes are measured on the monotonic clock from a token's arrival, so that setting the wall clock has no effect. If the
// machine is suspended, a token looks younger than it is; the service then responds with 401 once, and the token is renewed.
//
// Tokens are compared by identity, not by text: a token whose exchange began after a refusal is new, even if the service issues
// the same text again.
//
// The package does not know how to fetch a token, does not repeat requests, and does not decide which response means that a
// token was refused.
package token

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/sentinel"
)

const (
	// MaxLife limits a token's lifetime, so that no expiry can overflow the clock.
	MaxLife = 365 * 24 * time.Hour
	// DefaultHold is the default of Options.Hold. It is also the minimum time between two exchanges while tokens are refused
	// again and again: a 401 that no token prevents, such as one for a missing permission, costs one exchange in that time.
	DefaultHold = time.Second

	defaultTimeout = 30 * time.Second

	// renewBefore is the remaining life below which a token is renewed early (reference section 5.4), but not in the token's
	// first minute. A token that lives for 10 minutes or less is renewed at half its life: otherwise every call would renew it.
	renewBefore = 10 * time.Minute
	renewAfter  = time.Minute
	// minRenewalGap is the minimum time between the arrival of a token and the exchange that replaces it because of its age. It
	// limits the rate of exchanges for short-lived tokens. A refused token is renewed sooner.
	minRenewalGap = time.Second

	// failedHold is how long callers wait after a failed exchange. Each further failure doubles it, up to Options.Hold.
	failedHold = 250 * time.Millisecond
	// earlyHold is the pause after a failed early renewal, when the token is still valid. The pause doubles up to maxEarlyHold,
	// and ends when the token expires.
	earlyHold    = time.Second
	maxEarlyHold = time.Minute

	// spareLife is how long further calls may use a spare token, see Spare.
	spareLife = time.Second
)

var (
	// ErrClosed is returned after Close.
	ErrClosed = sentinel.New("prepaid: client closed")
	// ErrRefused is returned if the current token was refused and the next exchange may only begin after the caller's deadline.
	ErrRefused = errors.New("the service refused it, and there is no other one in time")

	errNoResult = errors.New("prepaid: token exchange ended without a result")
	errUnusable = errors.New("prepaid: token exchange returned no token with a lifetime")
	errStale    = errors.New("prepaid: token exchange returned the token that was refused meanwhile")
)

// Options are the settings of a Manager. All are optional.
type Options struct {
	// Timeout limits one exchange. Default: 30 s.
	Timeout time.Duration
	// Hold limits how long a failed exchange delays the next one, and is how long a refused credential is remembered: a
	// wrong secret stays wrong, and repeating it can lock the client out. Default: DefaultHold.
	Hold time.Duration
	// RejectedCredential reports whether an error of fetch means a refused credential. Default: never.
	RejectedCredential func(error) bool
	// Logger receives renewals (debug) and failed early renewals (warning). Default: no log.
	Logger *slog.Logger
	// Renewed is called after every exchange that Close did not cancel. The waiting callers are released before the call, and
	// the next exchange may be in progress. Renewed must not call Close. May be nil.
	Renewed func(took time.Duration, err error)
}

// Manager keeps one token; see the package comment.
type Manager struct {
	fetch func(context.Context) (*oauth2.Token, error)
	opts  Options
	epoch time.Time // when the manager's clock is 0

	state atomic.Pointer[state] // never nil; stored with mu held

	mu            sync.Mutex
	closed        bool
	pending       *exchange     // the exchange in progress, if any
	failures      int           // number of failed exchanges since the last success
	failure       error         // the error of the last failed exchange
	refusedUntil  time.Duration // until this time, failure means a refused credential
	nextAwaitedAt time.Duration // earliest start of an exchange that callers wait for
	spare         *state        // fetched because the current token may have caused a refusal; may be nil
	background    sync.WaitGroup
}

// state is a token and its times on the manager's clock. It does not change once stored.
type state struct {
	token     *oauth2.Token
	renewAt   time.Duration // from then on, calls take the slow path; at most expireAt
	expireAt  time.Duration // 0 without a token and after its refusal
	arrivedAt time.Duration
	refused   bool // the service responded to it with 401
	refusedAt time.Duration
	before    int // number of tokens refused in a row before this one: the first at any time, the others soon after they arrived
}

// is reports whether token is the token of s.
func (s *state) is(token *oauth2.Token) bool { return token != nil && s != nil && token == s.token }

// renewingAt returns a copy of s with another renewal time.
func (s *state) renewingAt(at time.Duration) *state {
	next := *s
	next.renewAt = min(at, s.expireAt)
	return &next
}

// NewManager returns a manager without a token. fetch makes one exchange. It must return soon after its context ends, and the
// Expiry of its token must be set; callers receive its errors unchanged.
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
	opts.Logger = guard.Logger(opts.Logger)
	m := &Manager{fetch: fetch, opts: opts, epoch: time.Now()}
	m.state.Store(&state{})
	return m
}

// now is the manager's clock: monotonic, and cheaper than time.Now.
func (m *Manager) now() time.Duration { return time.Since(m.epoch) }

// Token returns the current token at once if it is valid, even if ctx has ended. Otherwise it waits for a valid token until ctx ends,
// without effect on other callers. The token is shared: callers must not change it. If rejected is not nil, Token first calls Refuse.
//
// Errors: those of fetch, ErrClosed, ErrRefused (at once), or the context's.
func (m *Manager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	if rejected != nil {
		m.Refuse(rejected)
	}
	if s := m.state.Load(); m.now() < s.renewAt {
		return s.token, nil
	}
	for {
		token, pending, err := m.join(ctx)
		if pending == nil {
			return token, err
		}
		if token, err = pending.wait(ctx); !errors.Is(err, errStale) { // the next exchange began after the refusal
			return token, err
		}
	}
}

// Refuse reports that the service refused token with 401: no caller gets this token again. The next caller that needs a token
// starts an exchange. That caller may have to wait (see DefaultHold) if token, like tokens before it, was refused soon after its arrival.
func (m *Manager) Refuse(token *oauth2.Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.state.Load(); s.is(token) && !s.refused {
		m.state.Store(&state{token: token, arrivedAt: s.arrivedAt, refused: true, refusedAt: m.now(), before: s.before})
	}
	if m.spare.is(token) {
		m.spare = nil
	}
}

// Current returns token, or the token that has replaced it meanwhile, or nil if callers wait for a new one.
func (m *Manager) Current(token *oauth2.Token) *oauth2.Token {
	switch s := m.state.Load(); {
	case token == s.token && !s.refused:
		return token
	case m.now() < s.expireAt:
		return s.token
	}
	return nil
}

// join returns the current token if it may be used, or else the exchange to wait for.
func (m *Manager) join(ctx context.Context) (*oauth2.Token, *exchange, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, ErrClosed
	}
	now, s := m.now(), m.state.Load()
	if now < s.expireAt {
		if now >= s.renewAt && m.pending == nil {
			m.state.Store(s.renewingAt(s.expireAt)) // other calls use the fast path meanwhile
			m.start(now)
		}
		return s.token, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	start := max(now, m.nextAwaitedAt)
	switch {
	case m.pending != nil:
		start = m.pending.startAt
	case now < m.refusedUntil:
		return nil, nil, m.failure
	case s.refused && s.before > 1:
		start = max(start, s.arrivedAt+m.refusalHold())
	case s.token != nil && !s.refused:
		start = max(start, s.arrivedAt+minRenewalGap)
	}
	if err := m.outlasts(ctx, start-now); err != nil {
		return nil, nil, err
	}
	if m.pending == nil {
		m.start(start)
	}
	m.pending.awaited = true
	return nil, m.pending, nil
}

// refusalHold returns how long after a token's arrival a refusal is early and delays the next exchange: see DefaultHold.
func (m *Manager) refusalHold() time.Duration { return min(m.opts.Hold, DefaultHold) }

// outlasts returns the reason for a wait that would outlast the deadline of ctx. The caller then gets that error at once, not
// context.DeadlineExceeded after a useless wait.
func (m *Manager) outlasts(ctx context.Context, wait time.Duration) error {
	why := m.failure
	if why == nil && m.state.Load().refused {
		why = ErrRefused
	}
	if deadline, ok := ctx.Deadline(); ok && wait > 0 && time.Until(deadline) <= wait {
		return why
	}
	return nil
}

// Spare returns a token other than suspect, for a call that was perhaps refused because of suspect. suspect stays the shared token.
// If suspect is no longer the current token, Spare returns the current one. All such calls within a second use the same spare
// token: if they are refused for another reason, they cost only one exchange. Spare returns the error of a failed exchange while
// that exchange delays the next one.
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

// Adopt makes a spare token the shared token if suspect is still the shared one.
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

// backOff returns the wait after n failures: base, doubled for each failure after the first, but at most limit.
func backOff(base, limit time.Duration, n int) time.Duration {
	if n > 16 { // far above all limits here, far below an overflow
		return limit
	}
	return min(base<<max(0, n-1), limit)
}

// lifeOf returns how long token may be used from now; 0 if it is unusable.
func lifeOf(token *oauth2.Token) time.Duration {
	if token == nil || token.AccessToken == "" || token.Expiry.IsZero() {
		return 0
	}
	return min(max(0, time.Until(token.Expiry)), MaxLife)
}

// newState returns the state of a token that arrived now and replaces previous. hold is that of refusalHold.
func newState(token *oauth2.Token, now, hold time.Duration, previous *state) *state {
	life := lifeOf(token)
	early := max(life/2, minRenewalGap)
	if life > renewBefore {
		early = max(life-renewBefore, renewAfter)
	}
	s := &state{token: token, arrivedAt: now, expireAt: now + life, renewAt: now + min(early, life)}
	if previous.refused {
		s.before = 1
		if previous.before > 0 && previous.refusedAt < previous.arrivedAt+hold {
			s.before += previous.before
		}
	}
	return s
}
