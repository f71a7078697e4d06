package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
)

const (
	drainPageSize = 100
	// dismissTries bounds the dismissals of one message.
	dismissTries = 3
	// dismissGivenUp is how many messages in a row end the drain if they cannot be dismissed.
	dismissGivenUp = 2
	// drainLooks bounds the further reads of a list that ended before all of its messages were seen.
	drainLooks = 2
	// drainErrors bounds the errors that Drain returns one by one.
	drainErrors = 100
)

// Undelivered is the part of *[prepaid.HooksService] that [Drain] needs.
type Undelivered interface {
	// UndeliverablePage returns one page of the stored messages of a hook.
	UndeliverablePage(ctx context.Context, hookID prepaid.HookID, paging prepaid.Paging) (*prepaid.Page[prepaid.Message], error)
	// Dismiss removes stored messages of a hook.
	Dismiss(ctx context.Context, hookID prepaid.HookID, messageIDs ...prepaid.MessageID) error
}

var _ Undelivered = (*prepaid.HooksService)(nil)

// MessageError is an error with one message of a [Drain].
type MessageError struct {
	// MessageID identifies the message; it is empty if the message has none.
	MessageID prepaid.MessageID
	// Err is the error of handle, or why the message could not be dismissed.
	Err error
}

// Error returns the message's ID and the cause.
func (e *MessageError) Error() string {
	id := e.MessageID
	if len(id) > longestKey {
		id = id[:longestKey]
	}
	return fmt.Sprintf("webhook: message %q: %v", id, e.Err)
}

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// Drain calls handle with the undeliverable messages of a hook, one after the other, and dismisses each for which handle
// returns nil. [Handler.Handle] is such a function, and also accepts a message that was already handled. A message for
// which handle returns an error or panics stays stored, and Drain continues with the others. It passes each message
// once. If the service reports how many messages are stored, Drain passes at most as many as were stored at its start. It
// leaves later messages (or as many others, if the service lists new messages first) to the next Drain.
//
// Killing the process loses nothing: messages that were not dismissed are listed again. When ctx ends, the message just
// handled is still dismissed, within 5 s. A message dismissed by another program counts as dismissed. A dismissal that
// fails is tried up to three times in all, while the message is still listed.
//
// It returns the number of messages accepted by handle, and all errors joined: a *[MessageError] for each message still
// stored (the first 100, then their number), and the cause of an early end. That cause is an error of the list or of
// ctx, [ErrShutdown], failed dismissals of successive messages, or a *[prepaid.IncompleteListError] if the list ended
// three times with fewer messages than the service counts. After an IncompleteListError another Drain of the same hook
// may be running; if not, run Drain again.
func Drain(ctx context.Context, hooks Undelivered, hookID prepaid.HookID, handle func(context.Context, *prepaid.Message) error) (handled int, err error) {
	var faults faultList
	if hooks == nil {
		faults.add("hooks", ruleRequired)
	}
	if hookID == "" {
		faults.add("hook_id", ruleRequired)
	}
	if handle == nil {
		faults.add("handle", ruleRequired)
	}
	if err := faults.err(); err != nil {
		return 0, err
	}
	d := &drain{hooks: hooks, hookID: hookID, handle: handle, messages: map[prepaid.MessageID]*drained{}}
	for again := true; again && err == nil; {
		again, err = d.pass(ctx)
	}
	return d.handled, d.joined(err)
}

// drain is one call of Drain.
type drain struct {
	hooks  Undelivered
	hookID prepaid.HookID
	handle func(context.Context, *prepaid.Message) error

	messages map[prepaid.MessageID]*drained // every message passed to handle
	order    []*drained
	limit    int // how many messages to pass on; 0 if unknown
	handled  int
	open     int // messages accepted and not yet dismissed
	givenUp  int // messages in a row that could not be dismissed
	short    int // passes that saw fewer messages than the service counts
}

// drained is the state of a message.
type drained struct {
	id    prepaid.MessageID
	err   error // refused, or not dismissed
	tries int   // of dismissal
	open  bool  // accepted, not yet dismissed
}

// pass reads the list from page 1 to its end. Repeat it as long as messages leave the list, because the others then move
// up, and new ones may be anywhere.
func (d *drain) pass(ctx context.Context) (bool, error) {
	listed := map[string]bool{}
	size, seen, due, again := 0, 0, 0, false
	for number := 1; ; {
		page, err := d.read(ctx, number)
		if err != nil {
			return false, err
		}
		if number == 1 {
			due = page.TotalItems
		}
		if len(page.Items) == 0 {
			return d.passed(again && number > 1, seen, due)
		}
		if number == 1 {
			d.begin(page)
			size = max(page.Size, len(page.Items))
		}
		moved, err := d.work(ctx, page.Items)
		if err != nil {
			return false, err
		}
		again = again || moved
		others := listAll(listed, page.Items)
		seen += others
		switch {
		case d.full() && d.open == 0:
			return false, nil
		case others == 0 && !moved, lastPage(page, number, size): // the service repeats itself, or this is the end
			return d.passed(again, seen, due)
		case !moved: // otherwise the same page has other messages now
			number++
		}
	}
}

// read returns a page. The page is empty if others have dismissed so many messages that it no longer exists: page
// numbers above the last are invalid.
func (d *drain) read(ctx context.Context, number int) (*prepaid.Page[prepaid.Message], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	page, err := d.hooks.UndeliverablePage(ctx, d.hookID, prepaid.Paging{Page: number, Size: drainPageSize})
	invalid := errors.Is(err, prepaid.ErrBadRequest) || errors.Is(err, prepaid.ErrNotFound)
	if number > 1 && invalid && !errors.Is(err, prepaid.CodeInvalidHookID) {
		return &prepaid.Page[prepaid.Message]{}, nil
	}
	if err == nil && page == nil {
		page = &prepaid.Page[prepaid.Message]{}
	}
	return page, err
}

// begin records the number of stored messages that the very first page reports.
func (d *drain) begin(page *prepaid.Page[prepaid.Message]) {
	if len(d.messages) == 0 && page.TotalItems >= len(page.Items) {
		d.limit = page.TotalItems
	}
}

func (d *drain) full() bool { return d.limit > 0 && len(d.messages) >= d.limit }

// listAll adds the messages to listed and returns how many were new.
func listAll(listed map[string]bool, messages []prepaid.Message) (others int) {
	for i := range messages {
		key := cmp.Or(string(messages[i].ID), string(messages[i].Raw))
		if !listed[key] {
			others++
		}
		listed[key] = true
	}
	return others
}

// passed decides whether another pass is needed. A pass that dismissed nothing and saw fewer messages than the service
// counted may have run at the same time as another drain; the third such pass is an error.
func (d *drain) passed(again bool, seen, due int) (bool, error) {
	if again || seen >= due {
		return again, nil
	}
	if d.short++; d.short <= drainLooks {
		return true, nil
	}
	return false, &prepaid.IncompleteListError{Seen: seen, Total: due}
}

func lastPage(page *prepaid.Page[prepaid.Message], number, size int) bool {
	if page.TotalPages > 0 {
		return number >= page.TotalPages
	}
	return page.Last() || len(page.Items) < size
}

// work handles the messages of one page and reports whether any may have left the list. It stops at a failed dismissal:
// the next read of the list shows whether the message is still there.
func (d *drain) work(ctx context.Context, messages []prepaid.Message) (moved bool, err error) {
	for i := range messages {
		m := &messages[i]
		state := d.messages[m.ID]
		if state == nil {
			if d.full() {
				continue
			}
			if state, err = d.take(ctx, m); err != nil {
				return moved, err
			}
		}
		if !state.open {
			continue
		}
		moved = true
		if !d.dismiss(ctx, state) {
			break
		}
	}
	if d.givenUp >= dismissGivenUp {
		return moved, errDismiss
	}
	return moved, nil
}

// take calls handle with one message. An error of take ends the drain.
func (d *drain) take(ctx context.Context, m *prepaid.Message) (*drained, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	state := &drained{id: m.ID, err: ErrMessageID}
	if m.ID != "" {
		state.err = guarded(func() error { return d.handle(ctx, m) })
	}
	if state.err == nil {
		d.handled++
		d.open++
		state.open = true
	} else if err := ctx.Err(); err != nil {
		return nil, err
	} else if errors.Is(state.err, ErrShutdown) {
		return nil, state.err
	}
	d.messages[state.id] = state
	d.order = append(d.order, state)
	return state, nil
}

func (d *drain) dismiss(ctx context.Context, state *drained) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	state.tries++
	err := d.hooks.Dismiss(ctx, d.hookID, state.id)
	if err == nil || errors.Is(err, prepaid.CodeInvalidMessageID) {
		d.open--
		d.givenUp = 0
		state.open, state.err = false, nil
		return true
	}
	state.err = err
	if state.tries >= dismissTries {
		d.open--
		d.givenUp++
		state.open = false
	}
	return false
}

// joined adds the messages that are still stored to the error that ended the drain.
func (d *drain) joined(end error) error {
	var all []error
	more := 0
	for _, state := range d.order {
		switch {
		case state.err == nil:
		case state.open && end == nil: // no longer listed: the dismissal that seemed to fail succeeded
		case len(all) < drainErrors:
			all = append(all, &MessageError{MessageID: state.id, Err: state.err})
		default:
			more++
		}
	}
	if more > 0 {
		all = append(all, fmt.Errorf("webhook: %d more messages failed", more))
	}
	return errors.Join(append(all, end)...)
}
