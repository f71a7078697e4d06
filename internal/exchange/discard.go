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

// discardOnClose makes the kernel discard undelivered bytes. By default the kernel retransmits them for minutes, even after
// a close. After this call, closing the connection discards them and sends a reset (linger 0), also if the process ends. The
// kernel also discards them when the peer acknowledges nothing for the given time, even while the process is stopped.
func discardOnClose(conn *net.TCPConn, after time.Duration) {
	_ = conn.SetLinger(0) // fails only if the connection is closed already
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(descriptor uintptr) { limitRetransmission(descriptor, min(after, 24*time.Hour)) })
}
