package prepaidtest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
)

// Delivery is one attempt to deliver a message.
type Delivery struct {
	// Time is the server's clock after the attempt.
	Time time.Time
	// HookID is the hook.
	HookID prepaid.HookID
	// MessageID is the message; the same in each attempt.
	MessageID prepaid.MessageID
	// Type is the type of the message: transaction, or the words of MessageTypes.
	Type string
	// Attempt counts from 1.
	Attempt int
	// Status is the receiver's HTTP status, 0 when there was none.
	Status int
	// Delivered reports whether the service holds the message to be delivered: the receiver responded with success
	// (2xx), or the message was lost by a fault without its noticing.
	Delivered bool
	// Problem says why there is no status; empty otherwise.
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

// Deliveries returns the attempts made to deliver messages, pings included, oldest first, as far as the log
// reaches back (see RequestLog).
func (s *Server) Deliveries() []Delivery {
	return each(s.service.Hooks.Attempts(), func(a hooks.Attempt) Delivery {
		return Delivery{
			Time: a.Time, HookID: prepaid.HookID(a.HookID), MessageID: prepaid.MessageID(a.MessageID), Type: a.Type, Attempt: a.Attempt,
			Status: a.Status, Delivered: a.Delivered, Problem: a.Problem, Fault: a.Fault,
		}
	})
}

// WaitIdle returns when no request runs on after its response (CommitAfter) and no webhook message is queued or on its
// way, or when ctx ends. Retries and alerts that wait for the clock do not count.
func (s *Server) WaitIdle(ctx context.Context) error {
	s.service.Clock.Settle()
	return s.activity.WaitIdle(ctx)
}
