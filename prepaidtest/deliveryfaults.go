package prepaidtest

import (
	"context"
	"errors"
	"time"
)

// DeliveryFault is one delivery of a webhook message gone wrong. Make one with a function of this package and arm
// it with InjectDelivery; it is then used once, unless Times, Always or WithProbability say otherwise. Each attempt
// to deliver counts, retries included. Pings are not touched unless WithPings says so. The zero DeliveryFault does
// nothing but count a delivery.
type DeliveryFault struct {
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

// DuplicateMessage sends a message and then copies more times, 1 or more, under the same message id. It counts as
// delivered when one of them was.
func DuplicateMessage(copies int) DeliveryFault {
	return DeliveryFault{kind: deliveryFaultDuplicate, copies: copies}
}

// LoseMessage never sends the message, and the service believes that it was delivered.
func LoseMessage() DeliveryFault { return DeliveryFault{kind: deliveryFaultLose} }

// LoseAnswer sends the message and loses the receiver's answer: the attempt has failed, and the message is sent
// again (see DeliveryRetries) or becomes undeliverable although the receiver has it.
func LoseAnswer() DeliveryFault { return DeliveryFault{kind: deliveryFaultLoseAnswer} }

// DelayMessage holds a message back for d on the server's clock while later ones overtake it. A message held back
// meets no further fault when its time comes. It is not for pings, whose caller waits.
func DelayMessage(d time.Duration) DeliveryFault {
	return DeliveryFault{kind: deliveryFaultDelay, wait: d}
}

// Times makes a fault count n times, 1 or more. It undoes Always.
func (f DeliveryFault) Times(n int) DeliveryFault {
	f.repeat(n)
	return f
}

// Always makes a fault stay armed until ClearDeliveryFaults. It undoes Times.
func (f DeliveryFault) Always() DeliveryFault {
	f.forever()
	return f
}

// WithProbability makes each delivery take the fault with probability p, above 0 and at most 1; one that does not
// is free for the next armed fault. Without Times the fault stays armed. RandomSeed makes the draws the same in each
// run.
func (f DeliveryFault) WithProbability(p float64) DeliveryFault {
	f.sometimes(p)
	return f
}

// WithPings makes pings count as messages too. A ping whose answer is lost fails its registration or change, and
// one that is lost itself passes for answered.
func (f DeliveryFault) WithPings() DeliveryFault {
	f.pings = true
	return f
}

func (f DeliveryFault) check() error {
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

// InjectDelivery arms faults for the messages of a hook, or of any hook when hookID is empty. Deliveries use them
// in the order armed, those for the hook itself before those for any. A number out of its range and an unknown
// hook fail the test, and then nothing is armed. A hook that is not registered yet, whose ping is to fail, is
// reached with the empty hookID.
func (s *Server) InjectDelivery(hookID string, faults ...DeliveryFault) {
	if s.tb != nil {
		s.tb.Helper()
	}
	s.mu.RLock()
	known := hookID == "" || s.hooks[hookID] != nil
	s.mu.RUnlock()
	if !known {
		s.fail("InjectDelivery: the hook does not exist")
		return
	}
	for _, fault := range faults {
		if err := fault.check(); err != nil {
			s.fail("InjectDelivery: %v", err)
			return
		}
	}
	s.mishaps.arm(hookID, faults)
}

// ArmedDeliveryFault is a fault that waits for a delivery.
type ArmedDeliveryFault struct {
	// HookID is the one given to InjectDelivery, empty for any hook.
	HookID string
	// Fault is the fault with its modifiers.
	Fault DeliveryFault
	// Used is how many deliveries took it.
	Used int
	// Left is how many more will, -1 when without end.
	Left int
}

// DeliveryFaults returns the armed faults of deliveries in the order armed.
func (s *Server) DeliveryFaults() []ArmedDeliveryFault {
	waiting := s.mishaps.all()
	list := make([]ArmedDeliveryFault, len(waiting))
	for i, one := range waiting {
		list[i] = ArmedDeliveryFault{HookID: one.name, Fault: one.fault, Used: one.used, Left: one.left}
	}
	return list
}

// ClearDeliveryFaults disarms the faults of all deliveries.
func (s *Server) ClearDeliveryFaults() { s.mishaps.clear() }

// dispatch makes one attempt, or what a fault leaves of it, and tells whether the service may believe the message
// delivered. It needs m to be in no queue.
func (s *Server) dispatch(ctx context.Context, h *hook, config hookConfig, m *message) bool {
	if s.takeHeld(m) {
		return s.send(ctx, h.id, config, m, nil)
	}
	fault := s.mishaps.take(h.id, func(DeliveryFault) bool { return true })
	if fault == nil || fault.kind != deliveryFaultDelay {
		return s.sendWith(ctx, h.id, config, m, fault)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.held = true
	m.attempts-- // this was none
	h.current = nil
	s.clock.After(fault.wait, &job{server: s, kind: jobSend, hook: h, message: m})
	return true
}

// takeHeld tells whether a message was held back before, once.
func (s *Server) takeHeld(m *message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := m.held
	m.held = false
	return held
}

// dispatchPing is dispatch for a ping, which is in no queue.
func (s *Server) dispatchPing(ctx context.Context, hookID string, config hookConfig, m *message) bool {
	return s.sendWith(ctx, hookID, config, m, s.mishaps.take(hookID, func(f DeliveryFault) bool { return f.pings }))
}

func (s *Server) sendWith(ctx context.Context, hookID string, config hookConfig, m *message, fault *DeliveryFault) bool {
	copies := 0
	if fault != nil && fault.kind == deliveryFaultDuplicate {
		copies = fault.copies
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

// send makes one attempt and writes it down.
func (s *Server) send(ctx context.Context, hookID string, config hookConfig, m *message, fault *DeliveryFault) bool {
	attempt := Delivery{HookID: hookID, MessageID: m.id, Type: m.kind, Attempt: m.attempts, Fault: fault != nil}
	if fault != nil && fault.kind == deliveryFaultLose {
		attempt.Delivered, attempt.Problem = true, "the message was lost"
	} else {
		attempt.Status, attempt.Problem = s.transmit(ctx, config, m.body)
		attempt.Delivered = attempt.Status/100 == 2
	}
	if fault != nil && fault.kind == deliveryFaultLoseAnswer {
		attempt.Status, attempt.Delivered, attempt.Problem = 0, false, "the answer was lost"
	}
	attempt.Time = s.clock.Now()
	s.deliveries.Add(attempt)
	return attempt.Delivered
}
