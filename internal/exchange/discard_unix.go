//go:build unix && !aix

package exchange

import (
	"errors"
	"runtime"
	"syscall"
	"time"
)

// limitRetransmission sets TCP_USER_TIMEOUT on Linux and TCP_RXT_CONNDROPTIME on macOS; other systems have no option for it. A value
// of 0 would mean the system's default.
func limitRetransmission(descriptor uintptr, after time.Duration) {
	var option int
	var value int64
	switch runtime.GOOS {
	case "linux", "android":
		option, value = 0x12, max(after.Milliseconds(), 1)
	case "darwin", "ios":
		option, value = 0x80, max(int64(after/time.Second), 1)
	default:
		return
	}
	_ = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, option, int(value))
}

const receives = true

// receive reads from a socket without waiting, or only looks. none means that there are no bytes yet; n is 0 at the end.
func receive(descriptor uintptr, p []byte, peek bool) (n int, none bool, err error) {
	flags := syscall.MSG_DONTWAIT
	if peek {
		flags |= syscall.MSG_PEEK
	}
	for {
		n, _, err = syscall.Recvfrom(int(descriptor), p, flags)
		if !errors.Is(err, syscall.EINTR) {
			return n, errors.Is(err, syscall.EAGAIN), err
		}
	}
}
