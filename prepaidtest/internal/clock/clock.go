// Package clock is the emulator's clock. It runs like real time or is frozen, and Advance moves it forward. The clock
// runs tasks when they are due.
//
// Call Settle before you read the state: Settle runs overdue tasks, so that you never see the state before these
// tasks. Tasks with the same due time run in the order in which they were added. The time never runs back, and never
// passes End.
//
// A task is a Job with its due time. A Job that must be saved is data, not a function. The package does not know the
// purpose of a Job; a Job takes the locks that it needs.
package clock

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is a clock that runs tasks. Make it with New.
type Clock struct {
	started time.Time // real instant at which the clock began
	origin  time.Time // the clock's time at started
	frozen  bool
	offset  atomic.Int64
	next    atomic.Int64 // earliest due time in Unix nanoseconds; math.MaxInt64 without tasks

	run sync.Mutex // held while tasks run

	mu     sync.Mutex
	tasks  []Task // by due time, then by age
	timer  *time.Timer
	closed bool
}

// Job is work for later. A job that must be saved is data, not a function, so that it still exists after a restart.
type Job interface {
	// Do does the job. The parameter due is the due time of the job's task.
	Do(due time.Time)
}

// Task is a job with its due time.
type Task struct {
	Due time.Time
	Job Job
}

// New makes a clock that shows origin, or the real time if origin is zero.
func New(origin time.Time, frozen bool) *Clock {
	started := time.Now()
	if origin.IsZero() {
		origin = started
	}
	c := &Clock{started: started, origin: origin.UTC(), frozen: frozen}
	c.next.Store(math.MaxInt64)
	return c
}

// Now returns the time on the clock.
func (c *Clock) Now() time.Time {
	now := c.origin.Add(time.Duration(c.offset.Load()))
	if !c.frozen {
		now = now.Add(time.Since(c.started))
	}
	return now.Round(0)
}

// End is the latest time of the clock; Unix nanoseconds end in 2262.
func End() time.Time { return time.Date(2200, 12, 31, 23, 59, 59, 0, time.UTC) }

// Advance moves the clock. It returns false, and moves nothing, if d is negative or leads beyond End.
func (c *Clock) Advance(d time.Duration) bool {
	if d < 0 || d > End().Sub(c.Now()) {
		return false
	}
	c.offset.Add(int64(d))
	c.Settle()
	c.mu.Lock()
	c.arm()
	c.mu.Unlock()
	return true
}

// At performs a job at the time due, or at once if that time is past.
func (c *Clock) At(due time.Time, j Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Push(due, j)
	c.arm()
}

// After performs a job when d has passed on this clock. A closed clock keeps the job for Save and does not perform it.
func (c *Clock) After(d time.Duration, j Job) { c.At(c.Now().Add(d), j) }

// Push adds a task. The caller holds c.mu.
func (c *Clock) Push(due time.Time, j Job) {
	place, _ := slices.BinarySearchFunc(c.tasks, due, func(t Task, due time.Time) int {
		return cmp.Or(t.Due.Compare(due), -1) // after the tasks with the same due time
	})
	c.tasks = slices.Insert(c.tasks, place, Task{Due: due, Job: j})
}

// Waiting returns the pending tasks in order.
func (c *Clock) Waiting() []Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tasks)
}

// Resume starts the clock after Restore, and runs overdue tasks.
func (c *Clock) Resume() {
	c.mu.Lock()
	c.arm()
	c.mu.Unlock()
	c.Settle()
}

// Settle runs due tasks. A task must not call Settle.
func (c *Clock) Settle() {
	if c.Now().UnixNano() < c.next.Load() {
		return
	}
	c.runDue()
}

func (c *Clock) runDue() {
	c.run.Lock()
	defer c.run.Unlock()
	for {
		due, ok := c.pop()
		if !ok {
			return
		}
		due.Job.Do(due.Due)
	}
}

// pop takes the next due task. If no task is due, it arms the timer for the next task. While tasks are due, the
// field next stays in the past, so readers wait for the running task.
func (c *Clock) pop() (Task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.tasks) == 0 || c.tasks[0].Due.After(c.Now()) {
		c.arm()
		return Task{}, false
	}
	first := c.tasks[0]
	c.tasks = slices.Delete(c.tasks, 0, 1)
	return first, true
}

// arm sets the timer for the next task. The caller holds c.mu.
func (c *Clock) arm() {
	if c.closed || len(c.tasks) == 0 {
		c.next.Store(math.MaxInt64)
		return
	}
	due := c.tasks[0].Due
	c.next.Store(due.UnixNano())
	if c.frozen {
		return
	}
	if wait := due.Sub(c.Now()); c.timer == nil {
		c.timer = time.AfterFunc(wait, c.Settle)
	} else {
		c.timer.Reset(wait)
	}
}

// Close makes the clock run no further task. It keeps pending tasks for Save.
func (c *Clock) Close() {
	c.mu.Lock()
	c.closed = true
	c.next.Store(math.MaxInt64)
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.runDue() // runs nothing, since c is closed, but waits for the running task
}

// Hold makes the clock run no task until release is called, so that each task is either pending or done.
func (c *Clock) Hold() (release func()) {
	c.run.Lock()
	return c.run.Unlock
}

// State has the time of a frozen clock, or a running clock's lead over real time.
type State struct {
	At    time.Time     `json:"at,omitzero"`
	Ahead time.Duration `json:"ahead_ns,omitzero"`
}

// Save returns the state. The state of a running clock changes only by Advance.
func (c *Clock) Save() State {
	if c.frozen {
		return State{At: c.Now()}
	}
	return State{Ahead: c.origin.Sub(c.started) + c.Moved()}
}

// Restore continues from a saved state. There must be no pending job.
func (c *Clock) Restore(saved State) {
	c.origin = saved.At.UTC()
	if saved.At.IsZero() {
		c.origin = c.started.Add(saved.Ahead).UTC()
	}
}

// Moved is how far the clock was moved.
func (c *Clock) Moved() time.Duration { return time.Duration(c.offset.Load()) }
