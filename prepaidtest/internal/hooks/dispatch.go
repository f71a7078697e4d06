package hooks

import (
	"context"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// dispatch makes one attempt, which a fault may change, and reports whether the service may treat the message as
// delivered. m must be in no queue.
func (s *Hooks) dispatch(ctx context.Context, h *Hook, config Config, m *state.Message) bool {
	if s.takeHeld(m) {
		return s.send(ctx, h.ID, config, m, nil)
	}
	fault := s.faults.Take(h.ID, func(faults.Fault) bool { return true })
	if fault == nil || fault.Kind != faults.Hold {
		return s.sendWith(ctx, h.ID, config, m, fault)
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	m.Held = true
	m.Attempts-- // the message was not attempted
	h.current = nil
	s.clock.After(fault.Wait, &Task{hooks: s, kind: taskSend, hook: h, message: m})
	return true
}

// takeHeld returns and clears the mark of a held message.
func (s *Hooks) takeHeld(m *state.Message) bool {
	l := s.ledger.Lock()
	defer l.Unlock()
	held := m.Held
	m.Held = false
	return held
}

// dispatchPing is dispatch for a ping, which is in no queue.
func (s *Hooks) dispatchPing(ctx context.Context, hookID string, config Config, m *state.Message) bool {
	return s.sendWith(ctx, hookID, config, m, s.faults.Take(hookID, func(f faults.Fault) bool { return f.Pings }))
}

func (s *Hooks) sendWith(ctx context.Context, hookID string, config Config, m *state.Message, fault *faults.Fault) bool {
	copies := 0
	if fault != nil && fault.Kind == faults.Duplicate {
		copies = fault.Copies
	}
	delivered := s.send(ctx, hookID, config, m, fault)
	for range copies {
		if ctx.Err() != nil {
			break
		}
		delivered = s.send(ctx, hookID, config, m, fault) || delivered
	}
	return delivered
}

// send makes one attempt and logs it.
func (s *Hooks) send(ctx context.Context, hookID string, config Config, m *state.Message, fault *faults.Fault) bool {
	attempt := state.Delivery{HookID: state.HookID(hookID), MessageID: m.ID, Type: m.Type, Body: m.Body, Attempt: m.Attempts, Fault: fault != nil}
	if fault != nil && fault.Kind == faults.Lose {
		attempt.Delivered, attempt.Problem = true, "the message was lost"
	} else {
		attempt.Status, attempt.Problem = s.transmit(ctx, config, []byte(m.Body))
		attempt.Delivered = attempt.Status/100 == 2
	}
	if fault != nil && fault.Kind == faults.LoseResponse {
		attempt.Status, attempt.Delivered, attempt.Problem = 0, false, "the response was lost"
	}
	attempt.Time = s.clock.Now()
	s.attempts.Add(attempt)
	return attempt.Delivered
}
