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
	// HookID is the ID of the hook.
	HookID prepaid.HookID
	// MessageID is the ID of the message, the same in each attempt.
	MessageID prepaid.MessageID
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

// Deliveries returns the attempts to deliver messages, including pings, oldest first, as far as the log has
// them (see RequestLog).
func (s *Server) Deliveries() []Delivery {
	return each(s.service.Hooks.Attempts(), func(a hooks.Attempt) Delivery {
		return Delivery{
			Time: a.Time, HookID: prepaid.HookID(a.HookID), MessageID: prepaid.MessageID(a.MessageID), Type: a.Type, Body: a.Body, Attempt: a.Attempt,
			Status: a.Status, Delivered: a.Delivered, Problem: a.Problem, Fault: a.Fault,
		}
	})
}

// WaitIdle returns when no request is still running after its response (CommitAfter) and no webhook message is queued
// or being sent, or when ctx ends. It does not wait for retries and alerts that are due later on the server's clock.
func (s *Server) WaitIdle(ctx context.Context) error {
	s.service.Clock.Settle()
	return s.activity.WaitIdle(ctx)
}
