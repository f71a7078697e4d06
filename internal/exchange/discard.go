package exchange

import (
	"net"
	"time"
)

// innermost returns the TCP connection below conn, or nil if a type without NetConn hides it.
func innermost(conn net.Conn) *net.TCPConn {
	for {
		switch c := conn.(type) {
		case *net.TCPConn:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// discardOnClose has the kernel discard the bytes that it has not delivered, instead of retransmitting them for minutes, its
// default even after a close. They are discarded when the connection is closed, also because the process ended (linger 0: the
// peer gets a reset), and when the peer acknowledges nothing for the given time, also if the process is stopped.
func discardOnClose(conn *net.TCPConn, after time.Duration) {
	_ = conn.SetLinger(0) // fails only if the connection is closed already
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(descriptor uintptr) { limitRetransmission(descriptor, min(after, 24*time.Hour)) })
}
