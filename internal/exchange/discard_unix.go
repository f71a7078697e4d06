//go:build linux || darwin

package exchange

import (
	"runtime"
	"syscall"
	"time"
)

// limitRetransmission sets TCP_USER_TIMEOUT on Linux and TCP_RXT_CONNDROPTIME on macOS. A value of 0 would mean the system's default.
func limitRetransmission(descriptor uintptr, after time.Duration) {
	option, value := 0x12, max(after.Milliseconds(), 1)
	if runtime.GOOS == "darwin" {
		option, value = 0x80, max(int64(after/time.Second), 1)
	}
	_ = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, option, int(value))
}
