package prepaidtest

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the server's time: real time moved by Advance, or frozen and moved by Advance alone. It also runs
// what is due later. Tasks are run before anybody looks at the state, so that a reader never sees a moment at
// which something overdue has not happened yet. They are data and not code, so that they can be saved.
type clock struct {
	started time.Time // real instant at which the clock began
	origin  time.Time // what it showed then
	frozen  bool
	perform func(j job, due time.Time)
	offset  atomic.Int64
	next    atomic.Int64 // earliest due time in Unix nanoseconds; math.MaxInt64 when nothing waits

	run sync.Mutex // held while tasks run

	mu     sync.Mutex
	tasks  taskQueue
	serial int
	timer  *time.Timer
	closed bool
}

type task struct {
	due    time.Time
	serial int
	job    job
}

func newClock(origin time.Time, frozen bool, perform func(j job, due time.Time)) *clock {
	started := time.Now()
	if origin.IsZero() {
		origin = started
	}
	c := &clock{started: started, origin: origin.UTC(), frozen: frozen, perform: perform}
	c.next.Store(math.MaxInt64)
	return c
}

func (c *clock) now() time.Time {
	now := c.origin.Add(time.Duration(c.offset.Load()))
	if !c.frozen {
		now = now.Add(time.Since(c.started))
	}
	return now.Round(0)
}

// clockEnd is as far as the clock can be moved; Unix nanoseconds end in 2262.
func clockEnd() time.Time { return time.Date(2200, 12, 31, 23, 59, 59, 0, time.UTC) }

// advance reports false, and does nothing, when that would move the clock back or beyond its end.
func (c *clock) advance(d time.Duration) bool {
	if d < 0 || d > clockEnd().Sub(c.now()) {
		return false
	}
	c.offset.Add(int64(d))
	c.settle()
	c.mu.Lock()
	c.arm()
	c.mu.Unlock()
	return true
}

// at performs a job at a time, at once when that is past.
func (c *clock) at(due time.Time, j job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.push(due, j)
	c.arm()
}

// after performs a job once d has passed on this clock, with the time at which it was due. After close it is only
// kept, for Save.
func (c *clock) after(d time.Duration, j job) { c.at(c.now().Add(d), j) }

// push needs c.mu.
func (c *clock) push(due time.Time, j job) {
	c.serial++
	heap.Push(&c.tasks, task{due: due, serial: c.serial, job: j})
}

// waiting returns what is to be done, the first first.
func (c *clock) waiting() []task {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(slices.Values(c.tasks), func(a, b task) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.serial, b.serial))
	})
}

// resume sets going what was pushed, and runs what is overdue.
func (c *clock) resume() {
	c.mu.Lock()
	c.arm()
	c.mu.Unlock()
	c.settle()
}

// settle runs what is due. It must not be called from a task.
func (c *clock) settle() {
	if c.now().UnixNano() < c.next.Load() {
		return
	}
	c.runDue()
}

func (c *clock) runDue() {
	c.run.Lock()
	defer c.run.Unlock()
	for {
		due, ok := c.pop()
		if !ok {
			return
		}
		c.perform(due.job, due.due)
	}
}

// pop takes the next due task. When there is none it arms the timer for the one to come; until then next stays
// in the past, which keeps readers waiting for the task that runs.
func (c *clock) pop() (task, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.tasks) == 0 || c.tasks[0].due.After(c.now()) {
		c.arm()
		return task{}, false
	}
	return heap.Pop(&c.tasks).(task), true
}

// arm needs c.mu.
func (c *clock) arm() {
	if c.closed || len(c.tasks) == 0 {
		c.next.Store(math.MaxInt64)
		return
	}
	due := c.tasks[0].due
	c.next.Store(due.UnixNano())
	if c.frozen {
		return
	}
	if wait := due.Sub(c.now()); c.timer == nil {
		c.timer = time.AfterFunc(wait, c.settle)
	} else {
		c.timer.Reset(wait)
	}
}

func (c *clock) close() {
	c.mu.Lock()
	c.closed = true
	c.next.Store(math.MaxInt64)
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.runDue() // nothing is due any more: this waits for a task that runs
}

// taskQueue orders tasks by due time, then by age.
type taskQueue []task

func (q taskQueue) Len() int { return len(q) }

func (q taskQueue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].serial < q[j].serial
	}
	return q[i].due.Before(q[j].due)
}

func (q taskQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for container/heap.
func (q *taskQueue) Push(x any) { *q = append(*q, x.(task)) }

// Pop is for container/heap.
func (q *taskQueue) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	*q = (*q)[:last]
	return popped
}
