//go:build !linux && !darwin && !windows

package exchange

import "time"

// limitRetransmission has no effect: the system has no such option.
func limitRetransmission(uintptr, time.Duration) {}
