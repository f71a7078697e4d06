package exchange

import (
	"syscall"
	"time"
)

// limitRetransmission sets TCP_MAXRT, in seconds. A value of 0 would mean the system's default.
func limitRetransmission(descriptor uintptr, after time.Duration) {
	const tcpMaxRT = 5
	_ = syscall.SetsockoptInt(syscall.Handle(descriptor), syscall.IPPROTO_TCP, tcpMaxRT, int(max(after/time.Second, 1)))
}

const receives = false // to look at a socket waits for bytes

func receive(uintptr, []byte, bool) (n int, none bool, err error) { return 0, true, nil }
