package prepaidtest

import (
	"errors"
	"time"
)

// messageFault is one delivery of a webhook message gone wrong. It is used once, unless its schedule says otherwise.
type messageFault struct {
	schedule
	kind   deliveryFaultKind
	copies int
	wait   time.Duration
	pings  bool
}

type deliveryFaultKind int

const (
	deliveryFaultNone deliveryFaultKind = iota
	deliveryFaultDuplicate
	deliveryFaultLose
	deliveryFaultLoseAnswer
	deliveryFaultDelay
)

func (f messageFault) check() error {
	switch {
	case f.kind == deliveryFaultDuplicate && f.copies < 1:
		return errors.New("the copies must be 1 or more")
	case f.wait < 0:
		return errors.New("the duration must not be negative")
	case f.kind == deliveryFaultDelay && f.pings:
		return errors.New("DelayMessage is not for pings")
	}
	return f.schedule.check()
}
