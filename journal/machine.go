package journal

import (
	"cmp"
	"fmt"
)

// State is the progress of a payment. [State.Next] has all transitions: stores change a state only through it.
type State string

const (
	// StateQueued: nothing was ever sent. Only a store that accepts payments before it sends them has this state.
	StateQueued State = "queued"
	// StateIntended: the payment is about to be sent, or being sent, and was not unknown before. If its process died, the
	// money may have moved.
	StateIntended State = "intended"
	// StateNotSent: nothing moved, for a reason outside the request. Send the payment when that reason is gone.
	StateNotSent State = "not_sent"
	// StateUnknown: the money may have moved. A payment stays unknown while it is sent again.
	StateUnknown State = "unknown"
	// StateDone: the money moved.
	StateDone State = "done"
	// StateRejected: nothing moved. The service or a check refused the payment, or [Entry.Resolve] recorded that
	// nothing moved. It is sent again only if you run it again or call Retry.
	StateRejected State = "rejected"
	// StateWithdrawn: nothing moved, and a person decided not to send the payment again, see [Entry.Withdraw].
	StateWithdrawn State = "withdrawn"
)

// States returns all states.
func States() []State {
	return []State{StateQueued, StateIntended, StateNotSent, StateUnknown, StateDone, StateRejected, StateWithdrawn}
}

// Open reports whether the money may have moved without a record: the state is unknown or intended. (Intended means
// this only while no call is sending the payment.)
func (s State) Open() bool { return s == StateIntended || s == StateUnknown }

// Pending reports whether the payment still has to be sent: queued, not sent, intended or unknown. Any other payment is done,
// or waits for a person.
func (s State) Pending() bool { return s == StateQueued || s == StateNotSent || s.Open() }

// Event is something that happens to a payment. The zero value is not valid.
type Event uint8

const (
	// EventBegin: a run begins. Store the next state durably before anything is sent.
	EventBegin Event = iota + 1
	// EventNotSent: the run ended. It moved nothing, for a reason outside the request ([prepaid.OutcomeNotProcessed]).
	EventNotSent
	// EventRefused: the run ended. It was refused and moved nothing; earlier runs may have moved the money.
	EventRefused
	// EventUnknown: the run ended, and may have moved the money.
	EventUnknown
	// EventDone: the money moved, according to the service or a person.
	EventDone
	// EventNotMoved: there is proof that no run moved the money: a refusal that [prepaid.ProvesNotApplied] accepts, or a person's word.
	EventNotMoved
	// EventWithdraw: a person decides not to send the payment again.
	EventWithdraw
	// EventRetry: a person decides to send the payment again.
	EventRetry
)

// String returns the event in words.
func (e Event) String() string {
	names := [...]string{"", "begin", "not sent", "refused", "unknown", "done", "not moved", "withdraw", "retry"}
	if e == 0 || e > EventRetry {
		return fmt.Sprintf("event(%d)", uint8(e))
	}
	return names[e]
}

// Next returns the state after an event. If the event is not possible in s, ok is false and the state is unchanged.
//
//	             queued    intended   not_sent   unknown   done  rejected   withdrawn
//	begin        intended  unknown    intended   unknown   -     intended   -
//	not sent     -         not_sent   -          unknown   -     -          -
//	refused      -         rejected   -          unknown   -     -          -
//	unknown      -         unknown    -          unknown   -     -          -
//	done         -         done       -          done      -     -          -
//	not moved    -         rejected   -          rejected  -     -          -
//	withdraw     withdrawn -          withdrawn  -         -     withdrawn  -
//	retry        -         -          -          -         -     not_sent   not_sent
//
// A payment that is being sent is intended or unknown, so that nothing needs to be written when a process dies. If a run finds it intended,
// the process of the last run died: the outcome of that run is unknown. Only success or proof ends the unknown state. Done is final.
func (s State) Next(e Event) (next State, ok bool) {
	if e <= EventRetry {
		next = machine[s][e]
	}
	return cmp.Or(next, s), next != ""
}

var machine = map[State][EventRetry + 1]State{
	StateQueued: {EventBegin: StateIntended, EventWithdraw: StateWithdrawn},
	StateIntended: {
		EventBegin: StateUnknown, EventNotSent: StateNotSent, EventRefused: StateRejected, EventUnknown: StateUnknown,
		EventDone: StateDone, EventNotMoved: StateRejected,
	},
	StateNotSent: {EventBegin: StateIntended, EventWithdraw: StateWithdrawn},
	StateUnknown: {
		EventBegin: StateUnknown, EventNotSent: StateUnknown, EventRefused: StateUnknown, EventUnknown: StateUnknown,
		EventDone: StateDone, EventNotMoved: StateRejected,
	},
	StateRejected:  {EventBegin: StateIntended, EventWithdraw: StateWithdrawn, EventRetry: StateNotSent},
	StateWithdrawn: {EventRetry: StateNotSent},
}

// StateError: an event is not possible in the state of a payment. The error matches [ErrState] and, if the payment is
// withdrawn, [ErrWithdrawn].
type StateError struct {
	// State is the unchanged state of the payment.
	State State
	// Event is the impossible event.
	Event Event
}

// Error names event and state.
func (e *StateError) Error() string {
	return "journal: " + e.Event.String() + ": not possible, the payment is " + string(e.State)
}

// Is matches [ErrState] and [ErrWithdrawn].
func (e *StateError) Is(target error) bool {
	return target == ErrState || target == ErrWithdrawn && e.State == StateWithdrawn
}
