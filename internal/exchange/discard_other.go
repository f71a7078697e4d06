//go:build !linux && !darwin && !windows

package exchange

import "time"

// limitRetransmission has no effect: these systems have no option for it.
func limitRetransmission(uintptr, time.Duration) {}
