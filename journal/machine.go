package journal

import (
	"cmp"
	"fmt"
)

// State is the progress of a payment. [State.Next] is the whole machine: the journal and any store built on [Entry] move a
// payment from state to state by it, and in no other way.
type State string

const (
	// StateQueued: nothing was ever sent. It is for a store that accepts payments before it sends them; a [Journal] has none.
	StateQueued State = "queued"
	// StateIntended: it is about to be sent, or being sent, and nothing was unknown before. If its process died, it may have
	// moved the money.
	StateIntended State = "intended"
	// StateNotSent: nothing moved, and the request itself was not at fault: send it when the cause is gone.
	StateNotSent State = "not_sent"
	// StateUnknown: it may have moved the money. It stays unknown while it is sent again.
	StateUnknown State = "unknown"
	// StateDone: the money moved.
	StateDone State = "done"
	// StateRejected: nothing moved, because the service or a check refused it or because of a [Resolution], see [Entry]. It is
	// not sent by itself again. If you call Transfer or DirectEntryOut again, it is.
	StateRejected State = "rejected"
	// StateWithdrawn: nothing moved, and a person decided that it is not sent any more, see [Entry.Withdraw].
	StateWithdrawn State = "withdrawn"
)

// States returns all states.
func States() []State {
	return []State{StateQueued, StateIntended, StateNotSent, StateUnknown, StateDone, StateRejected, StateWithdrawn}
}

// Open reports whether the payment may have moved the money without the store knowing: intended, if it is not being sent now,
// and unknown.
func (s State) Open() bool { return s == StateIntended || s == StateUnknown }

// Pending reports whether the payment still has to be sent: queued, not sent, intended or unknown. Any other is settled: it is
// done, or it waits for a person.
func (s State) Pending() bool { return s == StateQueued || s == StateNotSent || s.Open() }

// Event is something that happens to a payment. The zero value is not valid.
type Event uint8

const (
	// EventBegin: it is about to be sent. Store the next state, durably, before anything leaves.
	EventBegin Event = iota + 1
	// EventNotSent: the run is over. It moved nothing, and the request is not at fault ([prepaid.OutcomeNotProcessed]).
	EventNotSent
	// EventRefused: the run is over. It moved nothing, because it was refused, but that proves nothing about earlier runs.
	EventRefused
	// EventUnknown: the run is over, and may have moved the money.
	EventUnknown
	// EventDone: the money moved, according to the service or a person.
	EventDone
	// EventNotMoved: there is proof that no run moved the money: a refusal that [prepaid.ProvesNotApplied] accepts, or a
	// person's word.
	EventNotMoved
	// EventWithdraw: a person decides that it is not sent any more.
	EventWithdraw
	// EventRetry: a person decides that it is sent again.
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

// Next returns the state after an event; ok is false if the event is not possible in this state, which then stays.
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
// While a payment is being sent it is intended or unknown, so that nothing needs to be written when a process dies. A payment
// that begins as intended had a sender that died: the outcome of that run is unknown. From unknown, only success or proof leads
// on. Done is final.
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

// StateError says that an event is not possible in the state of a payment. It is [ErrState] and, if the payment is withdrawn,
// [ErrWithdrawn].
type StateError struct {
	// State is the state of the payment, unchanged.
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
