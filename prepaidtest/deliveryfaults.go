package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

// DeliveryFault makes one delivery of a webhook message go wrong. Make it with a function of this package and arm it
// with InjectDelivery. It is then used once, unless Times, Always or WithProbability changes that. Any attempt to deliver
// can use it, also a retry; a ping can only with WithPings. The zero DeliveryFault is used in the same way, without effect.
type DeliveryFault struct{ fault faults.Fault }

// DuplicateMessage sends a message 1 + copies times under the same message id; copies is 1 or more. The message is
// delivered if the receiver accepts at least one copy.
func DuplicateMessage(copies int) DeliveryFault {
	return DeliveryFault{faults.Fault{Kind: faults.Duplicate, Copies: copies}}
}

// LoseMessage never sends the message; the service regards it as delivered.
func LoseMessage() DeliveryFault { return DeliveryFault{faults.Fault{Kind: faults.Lose}} }

// LoseResponse sends the message and loses the receiver's response: the attempt fails, and the message is sent
// again (see DeliveryRetries) or becomes undeliverable although the receiver has it.
func LoseResponse() DeliveryFault { return DeliveryFault{faults.Fault{Kind: faults.LoseResponse}} }

// DelayMessage delays a message for d on the server's clock; later messages overtake it. When the delayed message is
// sent, it takes no other fault. Do not use DelayMessage for pings, since a client waits for the response to a ping.
func DelayMessage(d time.Duration) DeliveryFault {
	return DeliveryFault{faults.Fault{Kind: faults.Hold, Wait: d}}
}

// Times makes deliveries use a fault n times; n is 1 or more. It undoes Always.
func (f DeliveryFault) Times(n int) DeliveryFault {
	f.fault.Repeat(n)
	return f
}

// Always makes a fault stay armed until ClearDeliveryFaults. It undoes Times.
func (f DeliveryFault) Always() DeliveryFault {
	f.fault.Forever()
	return f
}

// WithProbability makes each delivery take the fault with probability p, above 0 and at most 1; otherwise it can take
// the next armed fault. Without Times the fault stays armed. RandomSeed makes the choices the same in each run.
func (f DeliveryFault) WithProbability(p float64) DeliveryFault {
	f.fault.Sometimes(p)
	return f
}

// WithPings lets pings take the fault too. If the response to a ping is lost, the registration or change of the hook
// fails; a lost ping counts as delivered.
func (f DeliveryFault) WithPings() DeliveryFault {
	f.fault.Pings = true
	return f
}

// InjectDelivery arms faults for the messages of a hook, or of any hook when hook is empty. Deliveries use the faults
// in the order armed; faults for the hook come before faults for any hook. A number out of range or an unknown hook
// fails the test, and nothing is armed. To fail the ping of a hook that is not registered yet, use the empty hook.
func (s *Server) InjectDelivery(hook prepaid.HookID, list ...DeliveryFault) {
	if s.tb != nil {
		s.tb.Helper()
	}
	if hook != "" && !s.service.Hooks.Exists(string(hook)) {
		s.fail("InjectDelivery: the hook does not exist")
		return
	}
	armed := make([]faults.Fault, len(list))
	for i, fault := range list {
		if err := fault.fault.Check(); err != nil {
			s.fail("InjectDelivery: %v", err)
			return
		}
		armed[i] = fault.fault
	}
	s.deliveryFaults.Arm(string(hook), armed...)
}

// ArmedDeliveryFault is a fault that waits for a delivery.
type ArmedDeliveryFault struct {
	// HookID is the hook given to InjectDelivery, empty for any hook.
	HookID prepaid.HookID
	// Fault is the fault with its modifiers.
	Fault DeliveryFault
	// Used is how many deliveries took the fault.
	Used int
	// Left is how many more deliveries will take the fault, -1 for no limit.
	Left int
}

// DeliveryFaults returns the armed faults of deliveries in the order armed.
func (s *Server) DeliveryFaults() []ArmedDeliveryFault {
	return each(s.deliveryFaults.All(), func(one faults.Armed) ArmedDeliveryFault {
		return ArmedDeliveryFault{HookID: prepaid.HookID(one.Name), Fault: DeliveryFault{one.Fault}, Used: one.Used, Left: one.Left}
	})
}

// ClearDeliveryFaults disarms the faults of all deliveries.
func (s *Server) ClearDeliveryFaults() { s.deliveryFaults.Clear() }

// String is the form that ParseDeliveryFault reads, for example "duplicate-message 2 always".
func (f DeliveryFault) String() string { return f.fault.String() }

// DeliveryFaultForms lists the forms that ParseDeliveryFault reads, each with its effect, then the modifiers.
func DeliveryFaultForms() []string { return faults.DeliveryForms() }

// ParseDeliveryFault reads a fault in one of the DeliveryFaultForms, for example "lose-response x2". Its errors name
// the wrong word and the broken rule.
func ParseDeliveryFault(text string) (DeliveryFault, error) {
	f, err := faults.ParseDelivery(text)
	return DeliveryFault{f}, err
}
