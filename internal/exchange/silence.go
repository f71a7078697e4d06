package exchange

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// silence finds connections that died without a sign.
type silence struct {
	heard   atomic.Uint32               // responses to reads on reused connections
	suspect atomic.Pointer[net.TCPConn] // of HTTP/2; heard has not changed since a read on it began, which timed out
}

// silent is called after the failure of x. After a time-out on a reused connection, idle connections may be dead too. It closes them,
// except the caller's, unless such a connection has responded to a read since heard.
func (s *Sender) silent(x *Exchange, heard uint32, err error) {
	if !s.netHTTP || !x.has(seenReused) || !x.effect && s.heard.Load() != heard ||
		!errors.Is(err, ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.CloseIdle()
	s.suspect.Store(x.conn.Load()) // that of a request with an effect is closed
}

// responded is called after a response to x. If it arrived on another connection than the suspect one, then the service works and that
// connection does not. It is closed: reads that wait on it are repeated at once.
func (s *Sender) responded(x *Exchange) {
	reused := x.has(seenReused) && !x.effect
	if reused {
		s.heard.Add(1)
	}
	if suspect := s.suspect.Load(); suspect != nil && s.suspect.CompareAndSwap(suspect, nil) && !reused {
		_ = suspect.Close()
	}
}
