//go:build !windows && (!unix || aix)

package exchange

import "time"

// limitRetransmission has no effect: these systems have no option for it.
func limitRetransmission(uintptr, time.Duration) {}

const receives = false

func receive(uintptr, []byte, bool) (n int, none bool, err error) { return 0, true, nil }
