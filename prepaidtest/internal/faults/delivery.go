package faults

import (
	"errors"
	"time"
)

// Delivery is a fault of one delivery of a webhook message. It is used once, unless its schedule says otherwise.
type Delivery struct {
	Schedule
	Kind   DeliveryKind
	Copies int
	Wait   time.Duration
	Pings  bool
}

// DeliveryKind is the kind of a delivery fault.
type DeliveryKind int

const (
	DeliverNormally DeliveryKind = iota
	Duplicate
	Lose
	LoseResponse
	Hold
)

// Check finds numbers out of their range.
func (f Delivery) Check() error {
	switch {
	case f.Kind == Duplicate && f.Copies < 1:
		return errors.New("the copies must be 1 or more")
	case f.Wait < 0:
		return errors.New("the duration must not be negative")
	case f.Kind == Hold && f.Pings:
		return errors.New("a delay is not for pings")
	}
	return f.Schedule.check()
}
