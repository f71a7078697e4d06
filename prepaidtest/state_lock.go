package prepaidtest

import (
	"sync"
	"sync/atomic"
)

// stateLock counts how often it was taken for writing, so that no change of the state can be forgotten when the
// state is kept in a file.
type stateLock struct {
	sync.RWMutex
	writes atomic.Int64
}

// Lock is that of the mutex.
func (l *stateLock) Lock() {
	l.RWMutex.Lock()
	l.writes.Add(1)
}

// changes counts how often the lock was taken for writing.
func (l *stateLock) changes() int64 { return l.writes.Load() }
