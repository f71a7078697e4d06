package exchange

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// silence finds connections that died without a sign.
type silence struct {
	heard   [2]atomic.Uint32            // responses on reused connections, see heardLike
	suspect atomic.Pointer[net.TCPConn] // of HTTP/2; heard has not changed since a read on it began, which timed out
}

// heardLike counts the responses on reused connections to requests that share their connections with x: reads, or those with an effect.
func (s *silence) heardLike(x *Exchange) *atomic.Uint32 {
	if x.effect {
		return &s.heard[1]
	}
	return &s.heard[0]
}

// silent is called after the failure of x. After a time-out on a reused connection, idle connections may be dead too. It closes them,
// except the caller's, unless such a connection has responded since heard.
func (s *Sender) silent(x *Exchange, heard uint32, err error) {
	if !s.netHTTP || !x.has(seenReused) || s.heardLike(x).Load() != heard ||
		!errors.Is(err, ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		return
	}
	s.CloseIdle()
	if conn := x.conn.Load(); conn != nil { // nil over HTTP/1.1: closed
		s.suspect.Store(conn)
	}
}

// responded is called after a response to x. If it arrived on another connection than the suspect one, then the service works and that
// connection does not. It is closed: reads that wait on it are repeated at once.
func (s *Sender) responded(x *Exchange) {
	reused := x.has(seenReused)
	if reused {
		s.heardLike(x).Add(1)
	}
	if suspect := s.suspect.Load(); suspect != nil && s.suspect.CompareAndSwap(suspect, nil) &&
		(!reused || x.effect) && x.conn.Load() != suspect {
		_ = suspect.Close()
	}
}
