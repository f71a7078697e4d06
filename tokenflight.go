package prepaid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/oauth2"
)

// tokenFlight is one exchange, shared by everyone who waits for it. It runs on its own: a caller that leaves
// does not end it, and its token is kept even if all of them left.
type tokenFlight struct {
	startAt time.Duration // not before; later than its launch during a hold-off
	cancel  context.CancelFunc
	awaited bool // callers without a valid token wait for it; guarded by the manager's mu
	spare   bool // for a call whose refusal may be due to the current token; guarded by the manager's mu

	done  chan struct{} // closed once token and err are set
	token *oauth2.Token
	err   error
}

// wait returns the result of f, unless ctx ends first.
func (f *tokenFlight) wait(ctx context.Context) (*oauth2.Token, error) {
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// launch starts an exchange at the given time. It is called with mu held, no flight under way and the manager
// open; the last of these also keeps it from racing the wait in Close.
func (m *tokenManager) launch(startAt time.Duration) {
	// Not the caller's context: its end must not reach the others, nor its values (a capture) see the exchange.
	ctx, cancel := context.WithCancel(context.Background())
	f := &tokenFlight{startAt: startAt, cancel: cancel, done: make(chan struct{})}
	m.flight = f
	m.background.Go(func() { m.fly(ctx, f) })
}

// fly waits until f may start, makes the exchange and hands its result to everyone.
func (m *tokenManager) fly(ctx context.Context, f *tokenFlight) {
	defer f.cancel()
	if wait := f.startAt - m.now(); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil { // closed before anything was sent
		m.land(f, nil, false, ctx.Err())
		return
	}
	began := m.now()
	token, refused, err := (*oauth2.Token)(nil), false, errTokenExchange
	defer func() { // deferred, or a fetch that panics or ends its goroutine would leave everyone waiting for ever
		panicked, took := recover(), m.now()-began
		early, final := m.land(f, token, refused, err)
		if panicked != nil {
			m.logPanic("prepaid: token exchange panicked", panicked)
		}
		if !errors.Is(final, ErrClosed) {
			m.report(took, final, early)
		}
	}()
	token, refused, err = m.exchange(ctx)
}

// exchange calls fetch once, within the timeout. refused says that the error means a refused credential.
func (m *tokenManager) exchange(ctx context.Context) (token *oauth2.Token, refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.timeout)
	defer cancel()
	token, err = m.fetch(ctx)
	if err != nil {
		return nil, m.opts.rejectedCredential != nil && m.opts.rejectedCredential(err), err
	}
	if tokenLife(token) == 0 {
		return nil, false, errTokenUnusable
	}
	return token, false, nil
}

// land records the result of f, releases those who wait for it and returns what they were given. early says
// that nobody did: the token being renewed was valid all the time.
func (m *tokenManager) land(f *tokenFlight, token *oauth2.Token, refused bool, err error) (early bool, final error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flight = nil
	now, s := m.now(), m.state.Load()
	switch {
	case m.closed:
		token, err = nil, ErrClosed
	case err == nil:
		if next := newTokenState(token, now, s); f.spare && now < s.expireAt {
			m.spare = next
		} else {
			m.state.Store(next)
		}
		m.failures, m.failure = 0, nil
	default:
		m.failures++
		m.failure = err
		hold := tokenBackOff(tokenEarlyHold, tokenEarlyHoldMax, m.failures)
		if refused {
			m.refusedUntil = now + m.opts.hold
			hold = max(hold, m.opts.hold)
		}
		if !f.spare {
			m.state.Store(s.renewingAt(now + hold))
		}
		if f.awaited {
			m.nextAwaitedAt = now + tokenBackOff(tokenFailedHold, m.opts.hold, m.failures)
		}
	}
	f.token, f.err = token, err
	close(f.done)
	return !f.awaited, err
}

// report tells the logger and the observer of an exchange.
func (m *tokenManager) report(took time.Duration, err error, early bool) {
	ctx := context.Background()
	switch {
	case err == nil:
		m.opts.logger.LogAttrs(ctx, slog.LevelDebug, "prepaid: token renewed", slog.Duration("duration", took), slog.Bool("early", early))
	case early: // no caller sees this error
		m.opts.logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: early token renewal failed", slog.Duration("duration", took), slog.Any("error", err))
	default:
		m.opts.logger.LogAttrs(ctx, slog.LevelDebug, "prepaid: token exchange failed", slog.Duration("duration", took), slog.Any("error", err))
	}
	if m.opts.renewed == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			m.logPanic("prepaid: token observer panicked", v)
		}
	}()
	m.opts.renewed(took, err)
}

// logPanic logs where a panic came from, but not its value, which may hold anything.
func (m *tokenManager) logPanic(message string, v any) {
	m.opts.logger.LogAttrs(context.Background(), slog.LevelError, message,
		slog.String("type", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
}
