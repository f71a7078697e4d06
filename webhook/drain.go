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
	// dismissGivenUp is how many messages in a row may resist dismissal before the drain ends.
	dismissGivenUp = 2
	// drainLooks is how often the list is read again that ended before all of its messages were listed.
	drainLooks = 2
	// drainErrors bounds the errors that Drain keeps one by one.
	drainErrors = 100
)

// Undelivered is the part of *[prepaid.HooksService] that [Drain] needs.
type Undelivered interface {
	// UndeliverablePage returns one page of the stored messages of a hook.
	UndeliverablePage(ctx context.Context, hookID string, params prepaid.ListUndeliverableParams) (*prepaid.Page[prepaid.Message], error)
	// Dismiss removes stored messages of a hook.
	Dismiss(ctx context.Context, hookID string, messageIDs ...string) error
}

var _ Undelivered = (*prepaid.HooksService)(nil)

// MessageError is what went wrong with one message of a [Drain]. The zero value is not used.
type MessageError struct {
	// MessageID is the message; empty for one without an id.
	MessageID string
	// Err is what handle returned, or why the message could not be dismissed.
	Err error
}

// Error gives the message's id and the cause.
func (e *MessageError) Error() string {
	id := e.MessageID
	if len(id) > longestKey {
		id = id[:longestKey]
	}
	return fmt.Sprintf("webhook: message %q: %v", id, e.Err)
}

// Unwrap returns Err.
func (e *MessageError) Unwrap() error { return e.Err }

// Drain hands the undeliverable messages of a hook to handle, one after the other, and dismisses each that handle took
// by returning nil; [Handler.Handle] is such a function, and takes a message that was handled before as well. A message
// that handle refuses, or panics on, stays stored, and Drain goes on with the others. It hands over each message once,
// and no more messages than were stored when it began, as far as the service reports their number. As many as were added
// meanwhile are left to the next Drain: the new ones or, if the service lists these first, others.
//
// A process killed at any time loses nothing: messages that were not yet dismissed come again. When ctx ends, the
// message just handled is still dismissed, within 5 s. A message that somebody else has dismissed by then counts as
// dismissed; a dismissal that failed is tried again, three times in all, while the message is still listed.
//
// It returns how many messages handle took, and all errors joined: a *[MessageError] for each message that is still
// stored (the first 100; then their number), and what ended it early: a list that failed, ctx, [ErrShutdown],
// dismissals that fail for one message after the other, or a *[prepaid.IncompleteListError] when the list ended three
// times before as many messages were seen as the service counts. Another Drain of the same hook may be the reason for
// that; otherwise run it again.
func Drain(ctx context.Context, hooks Undelivered, hookID string, handle func(context.Context, *prepaid.Message) error) (handled int, err error) {
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
	d := &drain{hooks: hooks, hookID: hookID, handle: handle, messages: map[string]*drained{}}
	for again := true; again && err == nil; {
		again, err = d.pass(ctx)
	}
	return d.handled, d.joined(err)
}

// drain is one call of Drain.
type drain struct {
	hooks  Undelivered
	hookID string
	handle func(context.Context, *prepaid.Message) error

	messages map[string]*drained // every message that was handed over
	order    []*drained
	limit    int // of messages to hand over; 0 when not known
	handled  int
	open     int // messages that are taken and still to be dismissed
	givenUp  int // messages in a row that could not be dismissed
	short    int // passes that saw fewer messages than the service counts
}

// drained is what became of a message.
type drained struct {
	id    string
	err   error // refused, or not dismissed
	tries int   // of dismissal
	open  bool  // taken, and still to be dismissed
}

// pass reads the list from page 1 to its end. It is to be repeated as long as messages leave the list, because the
// others move up then, and new ones may stand anywhere.
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
		case !moved: // else the same page has other messages now
			number++
		}
	}
}

// read returns a page, an empty one when others have dismissed so many messages that it is no more: page numbers above
// the last are not valid.
func (d *drain) read(ctx context.Context, number int) (*prepaid.Page[prepaid.Message], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	page, err := d.hooks.UndeliverablePage(ctx, d.hookID, prepaid.ListUndeliverableParams{
		Paging: prepaid.Paging{Page: number, Size: drainPageSize},
	})
	invalid := errors.Is(err, prepaid.ErrBadRequest) || errors.Is(err, prepaid.ErrNotFound)
	if number > 1 && invalid && !errors.Is(err, prepaid.CodeInvalidHookID) {
		return &prepaid.Page[prepaid.Message]{}, nil
	}
	if err == nil && page == nil {
		page = &prepaid.Page[prepaid.Message]{}
	}
	return page, err
}

// begin notes how many messages are stored, on the first page of all.
func (d *drain) begin(page *prepaid.Page[prepaid.Message]) {
	if len(d.messages) == 0 && page.TotalItems >= len(page.Items) {
		d.limit = page.TotalItems
	}
}

func (d *drain) full() bool { return d.limit > 0 && len(d.messages) >= d.limit }

// listAll adds the messages to listed and returns how many were not there.
func listAll(listed map[string]bool, messages []prepaid.Message) (others int) {
	for i := range messages {
		key := cmp.Or(messages[i].ID, string(messages[i].Raw))
		if !listed[key] {
			others++
		}
		listed[key] = true
	}
	return others
}

// passed decides whether another pass is due. One without a move of its own that saw less than the service counted may
// have been beside another drain; once more it is an error.
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

// work goes through the messages of one page and reports whether some may have left the list. It stops at a dismissal
// that failed: the list, read again, shows whether the message is still there.
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

// take hands one message over. The error ends the drain.
func (d *drain) take(ctx context.Context, m *prepaid.Message) (*drained, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	state := &drained{id: m.ID, err: ErrMessageID}
	if m.ID != "" {
		state.err = guard(func() error { return d.handle(ctx, m) })
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

// joined adds the messages that are still stored to what ended the drain.
func (d *drain) joined(end error) error {
	var all []error
	more := 0
	for _, state := range d.order {
		switch {
		case state.err == nil:
		case state.open && end == nil: // no longer listed: the dismissal that seemed to fail took place
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
