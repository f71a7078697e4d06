package prepaidtest

import "context"

// Deliveries returns the attempts to deliver messages, including pings, oldest first, as far as the log has
// them (see RequestLog).
func (s *Server) Deliveries() []Delivery { return s.service.Hooks.Attempts() }

// WaitIdle returns when no request is still running after its response (CommitAfter) and no webhook message is queued
// or being sent, or when ctx ends. It does not wait for retries and alerts that are due later on the server's clock.
func (s *Server) WaitIdle(ctx context.Context) error {
	s.service.Clock.Settle()
	return s.activity.WaitIdle(ctx)
}
