// Package activity counts the running work of an emulator, so that Close can wait for it and WaitIdle returns when nothing
// is under way any more.
//
// Handlers enter and leave; background work is run or started; messages and requests that run on begin and end. After Close
// nothing new begins. The lock is the innermost one: nothing else is locked while it is held.
package activity

import (
	"context"
	"sync"
	"time"
)

// Activity is the work of a server: handlers, deliveries and background work. Its lock is the innermost: nothing else is
// taken while it is held.
type Activity struct {
	stopped chan struct{}
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pending int // messages queued or on their way, and requests that run on
	idle    []chan struct{}
}

// New makes an activity of which nothing is under way.
func New() *Activity { return &Activity{stopped: make(chan struct{})} }

// Enter counts a handler in, which must call Leave; false after Close.
func (a *Activity) Enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.work.Add(1)
	return true
}

// Leave counts a handler out.
func (a *Activity) Leave() { a.work.Done() }

// Run runs f in the background; Wait waits for it. Its caller is counted already: a handler, or a function of Run or Start.
func (a *Activity) Run(f func()) { a.work.Go(f) }

// Start is Run for any caller; false, and f is not run, after Close.
func (a *Activity) Start(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.work.Go(f)
	}
	return !a.closed
}

// Begin counts a message or request as under way, and reports false after Close: then it is only kept, or is waited for by
// Wait alone.
func (a *Activity) Begin(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.pending += n
	return true
}

// End counts n messages or requests as no longer under way.
func (a *Activity) End(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = max(a.pending-n, 0)
	a.wake()
}

// Abandon counts everything as no longer under way.
func (a *Activity) Abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = 0
	a.wake()
}

// wake needs the lock.
func (a *Activity) wake() {
	if a.pending > 0 {
		return
	}
	for _, waiting := range a.idle {
		close(waiting)
	}
	a.idle = nil
}

// WaitIdle returns when nothing is under way, or when ctx ends.
func (a *Activity) WaitIdle(ctx context.Context) error {
	a.mu.Lock()
	if a.pending == 0 {
		a.mu.Unlock()
		return nil
	}
	waiting := make(chan struct{})
	a.idle = append(a.idle, waiting)
	a.mu.Unlock()
	select {
	case <-waiting:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pause waits d of real time; false when Stop is called or done ends before.
func (a *Activity) Pause(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.stopped:
	case <-done:
	}
	return false
}

// Close lets nothing new begin; false when that was so before.
func (a *Activity) Close() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.closed = true
	return true
}

// IsClosed reports whether Close was called.
func (a *Activity) IsClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// Stop ends pauses, and whatever else waits for stopping.
func (a *Activity) Stop() { close(a.stopped) }

// Stopping is closed by Stop.
func (a *Activity) Stopping() <-chan struct{} { return a.stopped }

// Wait returns when all handlers and background work have ended. Work that is still counted is kept for later.
func (a *Activity) Wait() {
	a.work.Wait()
	a.Abandon()
}
