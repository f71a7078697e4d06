package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestDrain(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{false, true} {
		for _, count := range []int{0, 1, 2, 3, 4, 5, 6, 7, 250} {
			for _, bad := range []int{0, 1, 2, 3} { // every bad-th message fails
				t.Run(fmt.Sprint(quiet, count, bad), func(t *testing.T) {
					t.Parallel()
					service := &stored{ids: numbered(count), size: 3, quiet: quiet}
					var want, left []prepaid.MessageID
					for i, id := range service.ids {
						if bad > 0 && i%bad == 0 {
							left = append(left, id)
						} else {
							want = append(want, id)
						}
					}
					took := failing(left...)
					handled, err := Drain(t.Context(), service, "h1", took.handle)
					require.Equal(t, len(want), handled)
					require.Equal(t, want, service.dropped)
					require.ElementsMatch(t, numbered(count), took.seen, "each once")
					require.ElementsMatch(t, left, service.ids)
					require.Equal(t, left == nil, err == nil)
					require.Equal(t, left[:min(len(left), drainErrors)], failures(t, err))
				})
			}
		}
	}
}

func TestDrainReportsTheRestAsNumber(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(250), size: 100}
	handled, err := Drain(t.Context(), service, "h1", func(context.Context, *prepaid.Message) error { panic("SECRET") })
	require.Zero(t, handled)
	require.Len(t, failures(t, err), 100)
	require.ErrorContains(t, err, "webhook: 150 more messages failed")
	require.ErrorContains(t, err, `webhook: message "7": webhook: function panicked`)
	require.NotContains(t, err.Error(), "SECRET")
	require.Equal(t, 3, service.lists)
}

// The usual case costs one list for each page and one dismissal for each message.
func TestDrainAsksNoMoreThanNeeded(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(250), size: 100}
	handled, err := Drain(t.Context(), service, "h1", (&taker{}).handle)
	require.NoError(t, err)
	require.Equal(t, 250, handled)
	require.Equal(t, 3, service.lists)

	service = &stored{ids: numbered(6), size: 3, quiet: true}
	_, err = Drain(t.Context(), service, "h1", (&taker{}).handle)
	require.NoError(t, err)
	require.Equal(t, 3, service.lists, "the third is empty")

	service = &stored{ids: numbered(3), size: 3, onDrop: func(*stored, prepaid.MessageID) error { return refused(prepaid.CodeInvalidMessageID) }}
	_, err = Drain(t.Context(), service, "h1", (&taker{}).handle)
	require.NoError(t, err, "dismissed by somebody else")
	require.Equal(t, 1, service.lists)

	service = &stored{ids: append(numbered(2), ""), size: 3}
	service.onDrop = func(s *stored, _ prepaid.MessageID) error { s.ids = append(s.ids, "late"); return nil }
	_, err = Drain(t.Context(), service, "h1", func(context.Context, *prepaid.Message) error { return errors.New("no") })
	require.Error(t, err)
	require.Equal(t, 1, service.lists, "one page, nothing dismissed")

	service = &stored{ids: numbered(5), size: 3, quiet: true}
	_, err = Drain(t.Context(), service, "h1", failing(numbered(5)...).handle)
	require.Error(t, err)
	require.Equal(t, 2, service.lists, "the second page is short")

	service = &stored{ids: numbered(7), size: 3, total: 2}
	handled, err = Drain(t.Context(), service, "h1", (&taker{}).handle)
	require.NoError(t, err)
	require.Equal(t, 7, handled, "a number of messages that cannot be right is not believed")
}

// A message that arrived at the front while a later page was read is found on the next pass.
func TestDrainLooksAgainFromTheFront(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(8), size: 3, quiet: true}
	took := &taker{fail: func(id prepaid.MessageID) error {
		if id == "3" {
			service.ids = slices.Insert(service.ids, 0, "new")
		}
		if id == "3" || id == "4" || id == "5" || id == "new" {
			return nil
		}
		return errors.New("no")
	}}
	handled, err := Drain(t.Context(), service, "h1", took.handle)
	require.Equal(t, 4, handled)
	require.Equal(t, []prepaid.MessageID{"0", "1", "2", "6", "7"}, failures(t, err))
	require.Equal(t, []prepaid.MessageID{"0", "1", "2", "6", "7"}, service.ids)
}

// Messages that cannot be dismissed do not end the drain as long as others can.
func TestDrainPassesOverWhatStays(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(7), size: 3, onDrop: func(_ *stored, id prepaid.MessageID) error {
		if id == "1" || id == "4" || id == "6" {
			return refused(prepaid.CodeServerError)
		}
		return nil
	}}
	took := &taker{}
	handled, err := Drain(t.Context(), service, "h1", took.handle)
	require.Equal(t, 7, handled)
	require.Equal(t, numbered(7), took.seen)
	require.Equal(t, []prepaid.MessageID{"1", "4", "6"}, failures(t, err))
	require.NotErrorIs(t, err, errDismiss)
}

// Others dismiss messages at the same time: one stale id loses nothing, and a page may be gone.
func TestDrainBesideAnother(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(10), size: 3}
	took := failing("0", "4", "5")
	service.onDrop = func(s *stored, id prepaid.MessageID) error {
		if id == "1" || id == "6" {
			s.ids = slices.DeleteFunc(s.ids, func(each prepaid.MessageID) bool { return each == id })
		}
		return nil
	}
	service.onList = func(s *stored, number int) error {
		if number == 2 && len(s.ids) > 2 {
			s.ids = s.ids[:2] // page 2 is no more
		}
		return nil
	}
	handled, err := Drain(t.Context(), service, "h1", took.handle)
	require.Equal(t, []prepaid.MessageID{"0"}, failures(t, err)[:1])
	require.Len(t, took.seen, handled+len(failures(t, err)))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(took.seen))), len(took.seen), "each once")
	require.Contains(t, took.seen, prepaid.MessageID("1"))
	require.NotErrorIs(t, err, prepaid.CodeInvalidMessageID)
	require.NotErrorIs(t, err, prepaid.CodeInvalidRequest)
}

// New messages keep coming, at either end: Drain ends all the same.
func TestDrainDoesNotChaseNewMessages(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]bool{"newest first": true, "newest last": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &stored{ids: numbered(7), size: 3}
			next := 100
			took := &taker{fail: func(id prepaid.MessageID) error {
				for range 2 {
					next++
					if front {
						service.ids = slices.Insert(service.ids, 0, prepaid.MessageID(strconv.Itoa(next)))
					} else {
						service.ids = append(service.ids, prepaid.MessageID(strconv.Itoa(next)))
					}
				}
				if id == "2" {
					return errors.New("no")
				}
				return nil
			}}
			handled, err := Drain(t.Context(), service, "h1", took.handle)
			require.Len(t, took.seen, 7)
			require.Equal(t, 7-len(failures(t, err)), handled)
		})
	}
}

// A service that lists dismissed messages, or the same page again and again, does not make a loop or a repeat.
func TestDrainOnStubbornService(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]*stored{
		"keeps listing":               {onDrop: func(*stored, prepaid.MessageID) error { return errDropped }},
		"keeps listing, quiet":        {onDrop: func(*stored, prepaid.MessageID) error { return errDropped }, quiet: true},
		"one page only, quiet":        {repeats: true, quiet: true},
		"one page only":               {repeats: true},
		"one page only, keeps, quiet": {repeats: true, quiet: true, onDrop: func(*stored, prepaid.MessageID) error { return errDropped }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service.ids, service.size = numbered(7), 3
			took := failing("1")
			handled, err := Drain(t.Context(), service, "h1", took.handle)
			require.Equal(t, []prepaid.MessageID{"1"}, failures(t, err))
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(took.seen))), len(took.seen), "each once")
			require.Equal(t, len(took.seen)-1, handled)
			require.Less(t, service.lists, 40)
		})
	}
}

// After a dismissal of unknown outcome the list shows whether it took place.
func TestDrainDismissalUnknown(t *testing.T) {
	t.Parallel()
	unknown := &prepaid.CallError{Operation: "Hooks.Dismiss", Err: &prepaid.TransportError{Sent: true}}
	for name, c := range map[string]struct {
		takes  bool // the dismissal took place
		times  int  // how often the response is lost
		failed bool
	}{
		"took place":            {true, 1, false},
		"did not":               {false, 1, false},
		"did not, twice":        {false, 2, false},
		"never does":            {false, 100, true},
		"took place, each time": {true, 100, false},
	} {
		for _, victim := range []prepaid.MessageID{"0", "1", "6"} {
			t.Run(name+" "+string(victim), func(t *testing.T) {
				t.Parallel()
				service := &stored{ids: numbered(7), size: 3}
				lost := 0
				service.onDrop = func(s *stored, id prepaid.MessageID) error {
					if id != victim || lost >= c.times {
						return nil
					}
					lost++
					if c.takes {
						s.drop(id)
					}
					return unknown
				}
				took := &taker{}
				handled, err := Drain(t.Context(), service, "h1", took.handle)
				require.Equal(t, 7, handled)
				require.Equal(t, numbered(7), took.seen, "handled once, whatever dismissing does")
				require.Equal(t, c.failed, prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
				if c.failed {
					require.Equal(t, []prepaid.MessageID{victim}, failures(t, err))
					require.Equal(t, []prepaid.MessageID{victim}, service.ids)
					return
				}
				require.NoError(t, err)
				require.Empty(t, service.ids)
			})
		}
	}
}

// When nothing can be dismissed, Drain does not go on handling.
func TestDrainGivesUpWhenDismissingFails(t *testing.T) {
	t.Parallel()
	service := &stored{ids: numbered(200), size: 100, onDrop: func(*stored, prepaid.MessageID) error {
		return &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: &prepaid.APIError{StatusCode: 401, Code: prepaid.CodeUnauthorized}}
	}}
	took := &taker{}
	handled, err := Drain(t.Context(), service, "h1", took.handle)
	require.Equal(t, 2, handled)
	require.Equal(t, numbered(2), took.seen)
	require.Equal(t, numbered(2), failures(t, err))
	require.ErrorIs(t, err, prepaid.ErrUnauthorized)
	require.ErrorIs(t, err, errDismiss)
}

func TestDrainListFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code prepaid.ErrorCode
		bad  []prepaid.MessageID // of page 1; if all fail, the second list is of page 2
	}{
		"page 1":       {prepaid.CodeServerError, []prepaid.MessageID{"2"}},
		"hook":         {prepaid.CodeInvalidHookID, []prepaid.MessageID{"2"}},
		"hook, page 2": {prepaid.CodeInvalidHookID, []prepaid.MessageID{"0", "1", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &stored{ids: numbered(6), size: 3}
			service.onList = func(s *stored, _ int) error {
				if s.lists == 2 {
					return refused(c.code)
				}
				return nil
			}
			handled, err := Drain(t.Context(), service, "h1", failing(c.bad...).handle)
			require.Equal(t, 3-len(c.bad), handled)
			require.Equal(t, c.bad, failures(t, err))
			require.ErrorIs(t, err, c.code)
		})
	}
}

func TestDrainMessageWithoutID(t *testing.T) {
	t.Parallel()
	service := &stored{ids: []prepaid.MessageID{"a", "", "b", "", "c"}, size: 2}
	took := &taker{}
	handled, err := Drain(t.Context(), service, "h1", took.handle)
	require.Equal(t, 3, handled)
	require.Equal(t, []prepaid.MessageID{"a", "b", "c"}, took.seen)
	require.ErrorIs(t, err, ErrMessageID)
	_, incomplete := errors.AsType[*prepaid.IncompleteListError](err)
	require.False(t, incomplete)
}

// When ctx ends, a message just handled is still dismissed, and nothing else is begun.
func TestDrainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"handled": nil, "failed": errors.New("no")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			service := &stored{ids: numbered(6), size: 3}
			took := &taker{fail: func(id prepaid.MessageID) error {
				if id == "1" {
					cancel()
					return result
				}
				return nil
			}}
			handled, err := Drain(ctx, service, "h1", took.handle)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, []prepaid.MessageID{"0", "1"}, took.seen)
			want := []prepaid.MessageID{"0"}
			if result == nil {
				want = []prepaid.MessageID{"0", "1"}
			}
			require.Equal(t, want, service.dropped)
			require.Equal(t, len(want), handled)
		})
	}
}

func TestDrainDismissalIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		service := hanging{&stored{ids: numbered(3), size: 3}}
		handled, err := Drain(ctx, service, "h1", func(context.Context, *prepaid.Message) error { cancel(); return nil })
		require.Equal(t, 1, handled)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

// A killed Drain and the next one together handle every message; claims prevent duplicates.
func TestDrainThroughHandler(t *testing.T) {
	t.Parallel()
	var seen recorder
	handler := newHandler(t, open(seen.take))
	service := &stored{ids: numbered(5), size: 2}
	service.onDrop = func(_ *stored, id prepaid.MessageID) error {
		if id == "2" {
			return errors.New("killed")
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Drain(ctx, service, "h1", func(ctx context.Context, m *prepaid.Message) error {
		if m.ID == "2" {
			defer cancel()
		}
		return handler.Handle(ctx, m)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []prepaid.MessageID{"2", "3", "4"}, service.ids)

	service.onDrop = nil
	handled, err := Drain(t.Context(), service, "h1", handler.Handle)
	require.NoError(t, err)
	require.Equal(t, 3, handled)
	require.Empty(t, service.ids)
	require.Equal(t, 5, seen.count(), "2 was not handled again")

	require.NoError(t, handler.Shutdown(t.Context()))
	service.ids = numbered(9)
	handled, err = Drain(t.Context(), service, "h1", handler.Handle)
	require.Zero(t, handled)
	require.ErrorIs(t, err, ErrShutdown)
	require.Empty(t, failures(t, err))
}

func TestDrainChecksArguments(t *testing.T) {
	t.Parallel()
	_, err := Drain(t.Context(), nil, "", nil)
	require.Equal(t, []string{"hooks", "hook_id", "handle"}, fields(t, err))
}

func TestMessageErrorIsShort(t *testing.T) {
	t.Parallel()
	err := &MessageError{MessageID: prepaid.MessageID(strings.Repeat("\n", 10_000)), Err: ErrInFlight}
	require.Less(t, len(err.Error()), 400)
	require.NotContains(t, err.Error(), "\n")
	require.ErrorIs(t, err, ErrInFlight)
}

// A list that ends early, though the service counts more messages, is read again and then reported: messages that were not
// handed over must not be taken for handled.
func TestDrainOfListThatEndsEarly(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int{"page 1": 1, "page 2": 2} {
		for _, times := range []int{1, 1000} {
			t.Run(fmt.Sprint(name, " ", times), func(t *testing.T) {
				t.Parallel()
				service := &stored{ids: numbered(9), size: 3, hides: from, hidden: times}
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
