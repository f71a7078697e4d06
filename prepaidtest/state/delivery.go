package state

import (
	"fmt"
	"strconv"
	"time"
)

// Delivery is one attempt to deliver a message.
type Delivery struct {
	// Time is the server's clock after the attempt.
	Time time.Time
	// HookID is the ID of the hook.
	HookID HookID
	// MessageID is the ID of the message, the same in each attempt.
	MessageID MessageID
	// Type is the type of the message: "transaction", or the type of a ping or an alert.
	Type string
	// Body is the whole message as sent, in JSON.
	Body string
	// Attempt counts from 1.
	Attempt int
	// Status is the receiver's HTTP status, 0 when there was none.
	Status int
	// Delivered reports whether the service regards the message as delivered: the receiver responded with success
	// (2xx), or a fault lost the message unnoticed.
	Delivered bool
	// Problem is the reason why there is no status; empty otherwise.
	Problem string
	// Fault reports whether an armed fault was used on this attempt.
	Fault bool
}

// String is one line: time, hook, type and id of the message, attempt, status or problem.
func (d Delivery) String() string {
	outcome := strconv.Itoa(d.Status)
	if d.Problem != "" {
		outcome = d.Problem
	}
	if d.Fault {
		outcome += " (fault)"
	}
	return fmt.Sprintf("%s hook %s %s %s attempt %d: %s", d.Time.Format(time.RFC3339Nano), d.HookID, d.Type, d.MessageID, d.Attempt, outcome)
}
