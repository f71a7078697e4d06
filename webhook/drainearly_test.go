package webhook

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// early returns empty pages from a number on, but counts all messages.
type early struct {
	*stored

	from, times int
}

func (e *early) UndeliverablePage(ctx context.Context, hookID prepaid.HookID, paging prepaid.Paging) (*prepaid.Page[prepaid.Message], error) {
	page, err := e.stored.UndeliverablePage(ctx, hookID, paging)
	if err == nil && paging.Page >= e.from && e.times > 0 {
		e.times--
		page.Items = nil
	}
	return page, err
}

// A list that ends early, though the service counts more messages, is read again and then reported: messages that were not
// handed over must not be taken for handled.
func TestDrainOfListThatEndsEarly(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int{"page 1": 1, "page 2": 2} {
		for _, times := range []int{1, 1000} {
			t.Run(fmt.Sprint(name, " ", times), func(t *testing.T) {
				t.Parallel()
				service := &early{stored: &stored{ids: numbered(9), size: 3}, from: from, times: times}
				took := &taker{fail: func(prepaid.MessageID) error { return errors.New("no") }}
				handled, err := Drain(t.Context(), service, "h1", took.handle)
				require.Zero(t, handled)
				incomplete, ok := errors.AsType[*prepaid.IncompleteListError](err)
				if times == 1 {
					require.False(t, ok, "the next pass saw everything")
					require.Equal(t, numbered(9), took.seen)
					return
				}
				require.Equal(t, prepaid.IncompleteListError{Seen: 3 * (from - 1), Total: 9}, *incomplete)
				require.Equal(t, numbered(3*(from-1)), append([]prepaid.MessageID{}, took.seen...))
				require.Less(t, service.lists, 10)
			})
		}
	}
}
