package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// stored plays the service: pages over the stored messages, which shift when one is dismissed.
type stored struct {
	ids     []prepaid.MessageID
	size    int
	quiet   bool // no paging headers
	total   int  // in place of the true number
	repeats bool // ignores page_number
	onList  func(s *stored, number int) error
	onDrop  func(s *stored, id prepaid.MessageID) error
	hidden  int // so many pages, from the number hides on, are empty, but all messages are counted
	hides   int
	lists   int
	dropped []prepaid.MessageID
}

func (s *stored) UndeliverablePage(ctx context.Context, hookID prepaid.HookID, paging prepaid.Paging) (*prepaid.Page[prepaid.Message], error) {
	s.lists++
	number := paging.Page
	if hookID != "h1" || number < 1 || ctx.Err() != nil {
		return nil, errors.Join(errors.New("bad call"), ctx.Err())
	}
	if s.lists > 10_000 {
		return nil, errors.New("lists for ever")
	}
	if s.onList != nil {
		if err := s.onList(s, number); err != nil {
			return nil, err
		}
	}
	if len(s.ids) == 0 {
		return &prepaid.Page[prepaid.Message]{Number: number}, nil // 204
	}
	pages := (len(s.ids) + s.size - 1) / s.size
	if s.repeats {
		number = 1
	}
	if number > pages {
		if s.quiet {
			return &prepaid.Page[prepaid.Message]{Number: number}, nil
		}
		return nil, refused(prepaid.CodeInvalidRequest)
	}
	page := &prepaid.Page[prepaid.Message]{Number: number}
	if !s.quiet {
		page.Size, page.TotalPages, page.TotalItems = s.size, pages, len(s.ids)
		if s.total > 0 {
			page.TotalItems = s.total
		}
	}
	if s.hidden > 0 && paging.Page >= s.hides {
		s.hidden--
		return page, nil
	}
	for i, id := range s.ids[(number-1)*s.size : min(number*s.size, len(s.ids))] {
		page.Items = append(page.Items, prepaid.Message{
			ID: id, HookID: "h1", Type: prepaid.MessageTypeTransaction, Raw: fmt.Appendf(nil, `{"n":%d}`, (number-1)*s.size+i),
		})
	}
	return page, nil
}

func (s *stored) Dismiss(ctx context.Context, hookID prepaid.HookID, ids ...prepaid.MessageID) error {
	if hookID != "h1" || len(ids) != 1 || ctx.Err() != nil {
		return errors.Join(errors.New("bad call"), ctx.Err())
	}
	if s.onDrop != nil {
		if err := s.onDrop(s, ids[0]); errors.Is(err, errDropped) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if !slices.Contains(s.ids, ids[0]) {
		return refused(prepaid.CodeInvalidMessageID)
	}
	s.drop(ids[0])
	return nil
}

func (s *stored) drop(id prepaid.MessageID) {
	s.dropped = append(s.dropped, id)
	s.ids = slices.DeleteFunc(s.ids, func(each prepaid.MessageID) bool { return each == id })
}

func refused(code prepaid.ErrorCode) error {
	return &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: &prepaid.APIError{StatusCode: 400, Code: code}}
}

func numbered(n int) []prepaid.MessageID {
	ids := make([]prepaid.MessageID, n)
	for i := range ids {
		ids[i] = prepaid.MessageID(strconv.Itoa(i))
	}
	return ids
}

// taker handles messages and counts them.
type taker struct {
	seen []prepaid.MessageID
	fail func(id prepaid.MessageID) error
}

func (h *taker) handle(_ context.Context, m *prepaid.Message) error {
	h.seen = append(h.seen, m.ID)
	if h.fail != nil {
		return h.fail(m.ID)
	}
	return nil
}

// failing returns a taker that refuses the listed messages.
func failing(ids ...prepaid.MessageID) *taker {
	return &taker{fail: func(id prepaid.MessageID) error {
		if slices.Contains(ids, id) {
			return errors.New("no")
		}
		return nil
	}}
}

// failures returns the ids of the messages that err names.
func failures(t *testing.T, err error) []prepaid.MessageID {
	t.Helper()
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	var ids []prepaid.MessageID
	for _, each := range joined.Unwrap() {
		if failed, ok := errors.AsType[*MessageError](each); ok {
			ids = append(ids, failed.MessageID)
		}
	}
	return ids
}

// errDropped stands for a dismissal that is acknowledged but has no effect.
var errDropped = errors.New("dropped")

type hanging struct{ *stored }

func (hanging) Dismiss(ctx context.Context, _ prepaid.HookID, _ ...prepaid.MessageID) error {
	<-ctx.Done()
	return ctx.Err()
}
