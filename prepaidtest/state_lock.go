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

// generation grows with each change of what Save writes.
func (s *Server) generation() int64 {
	return s.mu.writes.Load() + s.ids.taken() + s.clock.offset.Load()
}

func (g *identifiers) taken() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drawn
}
