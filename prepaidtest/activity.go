package prepaidtest

import (
	"context"
	"sync"
	"time"
)

// activity is what runs in a server: handlers, deliveries and background work. Its lock is the innermost: nothing else is
// taken while it is held.
type activity struct {
	stopped chan struct{}
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pending int // messages queued or on their way, and requests that run on
	idle    []chan struct{}
}

func newActivity() *activity { return &activity{stopped: make(chan struct{})} }

// enter counts a handler in, which must call leave; false after close.
func (a *activity) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.work.Add(1)
	return true
}

func (a *activity) leave() { a.work.Done() }

// run runs f in the background; wait waits for it. It is for what is counted already: handlers and what run and start run.
func (a *activity) run(f func()) { a.work.Go(f) }

// start is run for everybody; false, and f is not run, after close.
func (a *activity) start(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.work.Go(f)
	}
	return !a.closed
}

// begin counts a message or request as under way, and reports false after close: then it is only kept.
func (a *activity) begin(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.pending += n
	return true
}

// end counts n messages or requests as no longer under way.
func (a *activity) end(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = max(a.pending-n, 0)
	a.wake()
}

// abandon counts everything as no longer under way.
func (a *activity) abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = 0
	a.wake()
}

// wake needs the lock.
func (a *activity) wake() {
	if a.pending > 0 {
		return
	}
	for _, waiting := range a.idle {
		close(waiting)
	}
	a.idle = nil
}

// waitIdle returns when nothing is under way, or when ctx ends.
func (a *activity) waitIdle(ctx context.Context) error {
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

// pause waits d of real time; false when the server closes or done ends before.
func (a *activity) pause(d time.Duration, done <-chan struct{}) bool {
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

// close lets nothing new begin; false when that was so before.
func (a *activity) close() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.closed = true
	return true
}

// isClosed reports whether close was called.
func (a *activity) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// stop ends pauses, and whatever else waits for stopping.
func (a *activity) stop() { close(a.stopped) }

// stopping is closed by stop.
func (a *activity) stopping() <-chan struct{} { return a.stopped }

// wait returns when all handlers and background work have ended. What is still counted is kept for later.
func (a *activity) wait() {
	a.work.Wait()
	a.abandon()
}
