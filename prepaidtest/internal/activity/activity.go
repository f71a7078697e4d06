// Package activity counts the running work of an emulator, so that the emulator's Close and WaitIdle can wait for the end
// of this work.
//
// Handlers call Enter and Leave; Run and Start run background work; Begin and End count messages, and requests that
// outlive their handler. After Close no new work begins. No other lock is taken while an Activity's lock is held.
package activity

import (
	"context"
	"sync"
	"time"
)

// Activity is the work of a server: handlers, deliveries and background work.
type Activity struct {
	stopped chan struct{}
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pending int // messages queued or in flight, and requests that outlive their handler
	idle    []chan struct{}
}

// New makes an activity without work.
func New() *Activity { return &Activity{stopped: make(chan struct{})} }

// Enter adds a handler, which must call Leave. After Close it returns false.
func (a *Activity) Enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.work.Add(1)
	return true
}

// Leave removes a handler.
func (a *Activity) Leave() { a.work.Done() }

// Run runs f in the background; Wait waits for f. The caller must be counted: a handler, or a function of Run or Start.
func (a *Activity) Run(f func()) { a.work.Go(f) }

// Start is Run for any caller. After Close it returns false.
func (a *Activity) Start(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.work.Go(f)
	}
	return !a.closed
}

// Begin counts n messages or requests as under way. After Close, Begin counts nothing and returns false:
// a message then stays unsent, and a request delays Wait but not WaitIdle.
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

// Abandon counts all work as no longer under way.
func (a *Activity) Abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = 0
	a.wake()
}

// wake ends the waits of WaitIdle if nothing is under way. The caller holds a.mu.
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

// Pause waits d of real time. It returns false if Stop is called or done is closed first.
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

// Close stops new work. It returns false if Close was called before.
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

// Stop closes Stopping, which ends pauses.
func (a *Activity) Stop() { close(a.stopped) }

// Stopping is closed by Stop.
func (a *Activity) Stopping() <-chan struct{} { return a.stopped }

// Wait returns when all handlers and background work have ended. After that, no work is counted as under way.
func (a *Activity) Wait() {
	a.work.Wait()
	a.Abandon()
}
