package token

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pause"
)

// exchange fetches one token for all callers that wait for it. It is independent of the callers: a caller that gives up
// does not cancel the exchange, and the token is kept even if all callers give up.
type exchange struct {
	startAt time.Duration // the exchange does not begin earlier
	beganAt time.Duration
	cancel  context.CancelFunc
	awaited bool // callers without a valid token wait for it; guarded by the manager's mu
	spare   bool // for a call whose refusal the current token may have caused; guarded by the manager's mu

	done  chan struct{} // closed once token and err are set
	token *oauth2.Token
	err   error
}

// wait returns the result of x, unless ctx ends first.
func (x *exchange) wait(ctx context.Context) (*oauth2.Token, error) {
	select {
	case <-x.done:
		return x.token, x.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start begins an exchange at the given time. The caller holds mu, no exchange is pending, and the manager is open: otherwise
// background.Go would race with the Wait in Close.
func (m *Manager) start(startAt time.Duration) {
	// The caller's context is not used: its end must not affect other callers, and its Trace must not see this exchange.
	ctx, cancel := context.WithCancel(context.Background())
	x := &exchange{startAt: startAt, cancel: cancel, done: make(chan struct{})}
	m.pending = x
	m.background.Go(func() { m.run(ctx, x) })
}

// run waits until x may start, fetches the token and passes the result to all waiting callers.
func (m *Manager) run(ctx context.Context, x *exchange) {
	defer x.cancel()
	if wait := x.startAt - m.now(); wait > 0 {
		_ = pause.For(ctx, wait)
	}
	if ctx.Err() != nil { // closed before anything was sent
		m.finish(x, nil, false, ctx.Err())
		return
	}
	x.beganAt = m.now()
	token, refused, err := (*oauth2.Token)(nil), false, errNoResult
	failure := guard.Call(func() { token, refused, err = m.fetchOnce(ctx) })
	took := m.now() - x.beganAt
	early, final := m.finish(x, token, refused, err)
	if failure != nil && failure.Type != "" {
		m.opts.Logger.LogAttrs(context.Background(), slog.LevelError, "prepaid: token exchange panicked",
			slog.String("type", failure.Type), slog.String("stack", string(failure.Stack)))
	}
	if !errors.Is(final, ErrClosed) {
		m.report(took, final, early)
	}
}

// fetchOnce calls fetch once, within the timeout. refused means that the credentials were refused.
func (m *Manager) fetchOnce(ctx context.Context) (token *oauth2.Token, refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	token, err = m.fetch(ctx)
	if err != nil {
		return nil, m.opts.RejectedCredential != nil && m.opts.RejectedCredential(err), err
	}
	if lifeOf(token) == 0 {
		return nil, false, errUnusable
	}
	return token, false, nil
}

// finish records the result of x, releases the waiting callers and returns the error that the callers got. early means that
// no caller waited: the renewed token was still valid.
func (m *Manager) finish(x *exchange, token *oauth2.Token, refused bool, err error) (early bool, final error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = nil
	now, s := m.now(), m.state.Load()
	switch {
	case m.closed:
		token, err = nil, ErrClosed
	case err == nil && s.refused && token.AccessToken == s.token.AccessToken && x.beganAt < s.refusedAt:
		token, err = nil, errStale
	case err == nil:
		if next := newState(token, now, m.refusalHold(), s); x.spare && now < s.expireAt {
			m.spare = next
		} else {
			m.state.Store(next)
		}
		m.failures, m.failure = 0, nil
	default:
		m.failures++
		m.failure = err
		hold := backOff(earlyHold, maxEarlyHold, m.failures)
		if refused {
			m.refusedUntil = now + m.opts.Hold
			hold = max(hold, m.opts.Hold)
		}
		if !x.spare {
			m.state.Store(s.renewingAt(now + hold))
		}
		if x.awaited {
			m.nextAwaitedAt = now + backOff(failedHold, m.opts.Hold, m.failures)
		}
	}
	x.token, x.err = token, err
	close(x.done)
	return !x.awaited, err
}

// report passes an exchange to the logger and the observer.
func (m *Manager) report(took time.Duration, err error, early bool) {
	ctx := context.Background()
	switch {
	case err == nil:
		m.opts.Logger.LogAttrs(ctx, slog.LevelDebug, "prepaid: token renewed", slog.Duration("duration", took), slog.Bool("early", early))
	case early: // no caller sees this error
		m.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: early token renewal failed", slog.Duration("duration", took), slog.String("error", err.Error()))
	default:
		m.opts.Logger.LogAttrs(ctx, slog.LevelDebug, "prepaid: token exchange failed", slog.Duration("duration", took), slog.String("error", err.Error()))
	}
	if m.opts.Renewed != nil {
		guard.Hook(m.opts.Logger, "TokenRenewed", func() { m.opts.Renewed(took, err) })
	}
}
