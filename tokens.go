package prepaid

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
)

// The pace of the token manager. All of it is measured on the monotonic clock.
const (
	// tokenRenewBefore is the remaining life under which a token is renewed early, as the service recommends.
	// Half the token's life counts when that is less, or tokens living under 10 minutes would be renewed by
	// every call.
	tokenRenewBefore = 10 * time.Minute
	// tokenLeastGap lies between the arrival of a token and the exchange that replaces it because of its age.
	// It bounds the rate of exchanges however short tokens live; a rejected token does not wait for it.
	tokenLeastGap = time.Second
	// tokenLongestLife caps a lifetime, so that no expires_in can overflow the clock.
	tokenLongestLife = 365 * 24 * time.Hour
	// tokenExchangeTimeout bounds one exchange unless tokenOptions says otherwise.
	tokenExchangeTimeout = 30 * time.Second

	// tokenHold is the longest time that a failed exchange holds off the next one, unless tokenOptions says otherwise. As
	// long, at the most, a token that replaced a rejected one is kept after another 401: one that no token cures, such as
	// a lack of permission, costs one exchange in that time, however many calls meet it.
	// A refused credential is remembered that long, and nothing is sent meanwhile: a wrong secret stays wrong, and
	// repeating it can lock the client out. After another failure the callers wait: tokenFailedHold, doubled by each
	// further failure.
	tokenHold       = time.Second
	tokenFailedHold = 250 * time.Millisecond
	// A failed early renewal has time: the token is still good. Expiry ends this hold-off.
	tokenEarlyHold    = time.Second
	tokenEarlyHoldMax = time.Minute

	// tokenSpareLife is how long a token that was fetched for a 400 serves further calls that meet one.
	tokenSpareLife = time.Second
)

var (
	errTokenExchange = errors.New("prepaid: token exchange ended without a result")
	errTokenUnusable = errors.New("prepaid: token exchange gave no token with a lifetime")
)

// tokenOptions adjusts a tokenManager. The zero value works.
type tokenOptions struct {
	// timeout bounds one exchange; 30 s when zero.
	timeout time.Duration
	// hold bounds how long a failed exchange holds off the next one; tokenHold when zero.
	hold time.Duration
	// rejectedCredential says that an error of fetch means a refused credential. Nil: none does.
	rejectedCredential func(error) bool
	// logger is told of renewals (debug) and of failed early ones (warning), never of a token. Nil is silent.
	logger *slog.Logger
	// renewed is told of every exchange that ended, but not of one that Close cut off. It runs after the
	// waiting callers were released, perhaps beside the next exchange, and must not call Close. Nil is skipped.
	renewed func(took time.Duration, err error)
}

// tokenManager keeps one access token alive for any number of callers.
//
// A token is reused until under min(10 minutes, half its life) remains; then a call starts its renewal in the
// background and goes on with the token it has. Only callers without a valid token wait, all for the same
// exchange. Nothing happens without calls: an idle manager has no goroutine and no timer, and needs no Close.
//
// Lifetimes run on the monotonic clock from a token's arrival, so a wall clock that is set costs nothing. Time
// that the monotonic clock does not count (a suspended machine) makes a token look younger than it is; the
// service then answers 401 once and the token is renewed.
type tokenManager struct {
	fetch func(context.Context) (*oauth2.Token, error)
	opts  tokenOptions
	epoch time.Time // zero of now

	state atomic.Pointer[tokenState] // never nil; stored with mu held

	mu            sync.Mutex
	closed        bool
	flight        *tokenFlight  // the exchange under way, if any
	failures      int           // exchanges failed since the last success
	failure       error         // of the last of them
	refusedUntil  time.Duration // failure is a refused credential, remembered until then
	nextAwaitedAt time.Duration // earliest start of an exchange that callers wait for
	spare         *tokenState   // fetched for a response that may be due to the current token; nil for none
	background    sync.WaitGroup
}

// tokenState is a token and its times on the manager's clock. It does not change once stored.
type tokenState struct {
	token       *oauth2.Token
	renewAt     time.Duration // from here on a call takes the slow path; at most expireAt
	expireAt    time.Duration // 0 without a token and once given up
	arrivedAt   time.Duration
	rejected    bool // the service responded 401 to it
	replacement bool // of a rejected token
}

// is reports whether token is the one in s.
func (s *tokenState) is(token *oauth2.Token) bool {
	return token != nil && s != nil && s.token != nil && (token == s.token || token.AccessToken == s.token.AccessToken)
}

// renewableAt is the earliest start of an exchange because of a 401 to s.
func (m *tokenManager) renewableAt(s *tokenState) time.Duration {
	if s.replacement {
		return s.arrivedAt + min(m.opts.hold, tokenHold)
	}
	return s.arrivedAt
}

// renewingAt returns s with another time to try its renewal.
func (s *tokenState) renewingAt(at time.Duration) *tokenState {
	next := *s
	next.renewAt = min(at, s.expireAt)
	return &next
}

// newTokenManager returns a manager that has no token yet. fetch makes one exchange, must end soon after its
// context does, and returns a token whose Expiry is set; its errors reach the callers as they are.
func newTokenManager(fetch func(ctx context.Context) (*oauth2.Token, error), opts tokenOptions) *tokenManager {
	if opts.timeout <= 0 {
		opts.timeout = tokenExchangeTimeout
	}
	if opts.hold <= 0 {
		opts.hold = tokenHold
	}
	if opts.logger == nil {
		opts.logger = slog.New(slog.DiscardHandler)
	}
	m := &tokenManager{fetch: fetch, opts: opts, epoch: time.Now()}
	m.state.Store(&tokenState{})
	return m
}

// now is the manager's clock: monotonic, and cheaper than time.Now.
func (m *tokenManager) now() time.Duration { return time.Since(m.epoch) }

// Token implements TokenSource. It returns the current token at once while that is valid, whatever ctx says,
// and otherwise waits for one until ctx ends, which ends no other caller's wait. The token is shared: callers
// must not change it.
//
// A rejected token that is the current one is given up and renewed, once for all who report it. One that replaced a
// rejected token less than tokenHold ago is renewed once it is that old: those who report it wait, the others go
// on with it, since the 401 may not be the token's fault. It is returned again to a caller whose deadline is nearer. A
// rejected token that is not the current one is ignored.
//
// Errors: those of fetch, ErrClosed, or the context's.
func (m *tokenManager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	if s := m.state.Load(); m.now() < s.renewAt && !s.is(rejected) {
		return s.token, nil
	}
	token, flight, err := m.join(ctx, rejected)
	if flight == nil {
		return token, err
	}
	return flight.wait(ctx)
}

// join returns the current token if it may be used, or else the exchange to wait for.
func (m *tokenManager) join(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, *tokenFlight, error) {
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
		s = &tokenState{token: s.token, arrivedAt: s.arrivedAt, rejected: true}
		m.state.Store(s)
	}
	if now < s.expireAt {
		if now >= s.renewAt && m.flight == nil {
			m.state.Store(s.renewingAt(s.expireAt)) // back to the fast path while it runs
			m.launch(now)
		}
		return s.token, nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if m.flight == nil {
		if now < m.refusedUntil {
			return nil, nil, m.failure
		}
		start := max(now, m.nextAwaitedAt)
		if s.token != nil && !s.rejected {
			start = max(start, s.arrivedAt+tokenLeastGap)
		}
		if m.outlasts(ctx, start-now) {
			return nil, nil, m.failure
		}
		m.launch(start)
	} else if m.outlasts(ctx, m.flight.startAt-now) {
		return nil, nil, m.failure
	}
	m.flight.awaited = true
	return nil, m.flight, nil
}

// joinHeld returns the exchange that replaces s, which starts at the given time unless one is under way.
func (m *tokenManager) joinHeld(ctx context.Context, s *tokenState, now, start time.Duration) (*oauth2.Token, *tokenFlight, error) {
	if m.flight != nil {
		start = m.flight.startAt
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
	if m.flight == nil {
		m.launch(start)
	}
	m.flight.awaited, m.flight.spare = true, false
	return nil, m.flight, nil
}

// spareFor returns a token other than suspect, for a call whose refusal may be due to that one. suspect stays the shared
// token. The current one is returned if it is another, and one spare serves all such calls for tokenSpareLife: however many
// of them are refused for another reason, they cost one exchange in that time. While a failed exchange holds off the next
// one, that failure is returned.
func (m *tokenManager) spareFor(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	m.mu.Lock()
	now, s, spare := m.now(), m.state.Load(), m.spare
	var token *oauth2.Token
	var err error
	switch {
	case m.closed:
		err = ErrClosed
	case now < s.expireAt && !s.is(suspect):
		token = s.token
	case spare != nil && !spare.is(suspect) && now < min(spare.expireAt, spare.arrivedAt+tokenSpareLife):
		token = spare.token
	case m.failure != nil && now < max(m.refusedUntil, m.nextAwaitedAt):
		err = m.failure
	case m.flight == nil:
		m.launch(now)
		m.flight.spare = true
	}
	flight := m.flight
	if token == nil && err == nil {
		flight.awaited = true
	}
	m.mu.Unlock()
	if token != nil || err != nil {
		return token, err
	}
	return flight.wait(ctx)
}

// adopt makes a spare token the shared one instead of suspect, if that still is.
func (m *tokenManager) adopt(token, suspect *oauth2.Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.spare; s.is(token) && m.state.Load().is(suspect) && !m.closed {
		m.state.Store(s)
		m.spare = nil
	}
}

// outlasts reports whether a hold-off after a failure ends later than ctx. Its caller is better served with
// that failure, now, than with a deadline exceeded after a wait that could not succeed.
func (m *tokenManager) outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && m.failure != nil && wait > 0 && time.Until(deadline) <= wait
}

// Close cancels an exchange under way, waits for it to end and fails later calls with ErrClosed. It can be
// called more than once.
func (m *tokenManager) Close() {
	m.mu.Lock()
	m.closed, m.spare = true, nil
	m.state.Store(&tokenState{})
	if m.flight != nil {
		m.flight.cancel()
	}
	m.mu.Unlock()
	m.background.Wait()
}

// tokenBackOff doubles base with each of n failures after the first, up to limit.
func tokenBackOff(base, limit time.Duration, n int) time.Duration {
	if n > 16 { // far beyond every limit here, far below an overflow
		return limit
	}
	return min(base<<max(0, n-1), limit)
}

// tokenLife returns how long from now token may be used; 0 when it is not usable at all.
func tokenLife(token *oauth2.Token) time.Duration {
	if token == nil || token.AccessToken == "" || token.Expiry.IsZero() {
		return 0
	}
	return min(max(0, time.Until(token.Expiry)), tokenLongestLife)
}

// newTokenState returns the state of a token that arrived just now and follows previous.
func newTokenState(token *oauth2.Token, now time.Duration, previous *tokenState) *tokenState {
	life := tokenLife(token)
	early := max(life-min(tokenRenewBefore, life/2), tokenLeastGap)
	s := &tokenState{token: token, arrivedAt: now, expireAt: now + life, renewAt: now + min(early, life)}
	s.replacement = previous.rejected
	return s
}
