package prepaid_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// countedPages answers count pages of one account each, in a time that falls from page to page, so that later ones
// overtake earlier ones.
func countedPages(count int) harness.Step {
	var list []harness.Step
	for number := 1; number <= count; number++ {
		list = append(list, harness.After(time.Duration(1000-10*number)*time.Millisecond, pageOf(number, number, fmt.Sprint("1 ", count, " ", count))))
	}
	return pages(list...)
}

// lanes is a limiter that notes which lane each attempt came by.
type lanes struct {
	mu   sync.Mutex
	seen []prepaid.Lane
}

func (l *lanes) Acquire(_ context.Context, lane prepaid.Lane) (prepaid.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, lane)
	return nil, nil //nolint:nilnil // a limiter may give no slot
}

// Pages fetched ahead come in order, in a window that doubles up to Prefetch and never passes the last page.
func TestPrefetchWindow(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{1, 2, 4, 8, 100} {
		t.Run(fmt.Sprint(prefetch), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const count = 20
				service := harness.NewScript(countedPages(count))
				config := harness.ClockConfig(service)
				limiter := &lanes{}
				config.Limiter = limiter
				client := harness.NewClient(t, config)
				var ahead []int
				got, taken := []string{}, 0
				for account, err := range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: prefetch}) {
					require.NoError(t, err)
					synctest.Wait()
					got = append(got, string(account.ID))
					taken++
					ahead = append(ahead, len(service.Requests())-taken)
				}
				require.Equal(t, ids(1, count), got)
				require.Len(t, service.Requests(), count, "each page once, and none beyond the last")
				for i, pages := range ahead {
					window := count
					if i < 10 {
						window = 1 << i
					}
					require.Equal(t, min(window, prefetch, count-i-1), pages, "ahead after page %d", i+1)
				}
				require.LessOrEqual(t, service.Most, prefetch+1)
				require.Equal(t, prepaid.LaneCall, limiter.seen[0], "what the caller waits for")
				require.Contains(t, limiter.seen, prepaid.LaneBulk, "what is fetched ahead stands back")
			})
		})
	}
}

// Without a told end nothing is fetched ahead: the page may not exist.
func TestPrefetchWithoutEnd(t *testing.T) {
	t.Parallel()
	client, service := pagedClient(t, pageOf(1, 2, ""), pageOf(3, 4, ""), pageOf(5, 5, ""))
	got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 8}))
	require.NoError(t, err)
	require.Equal(t, ids(1, 5), got)
	require.Equal(t, []string{"page_number=1&page_size=100", "page_number=2&page_size=100", "page_number=3&page_size=100"}, asked(service))
	require.Equal(t, 1, service.Most)
}

// Leaving early, or a context that ends, cancels what is under way and leaves no goroutine: the bubble would not end.
func TestPrefetchLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		began, seen := time.Now(), 0
		for range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 16}) {
			if seen++; seen == 8 {
				break
			}
		}
		require.Less(t, time.Since(began), 6*time.Second)
		require.Equal(t, 0, service.Open, "nothing is under way once the loop is left")
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		_, err := collected(searchCompany(ctx, client, prepaid.Paging{Prefetch: 16}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 0, service.Open)
	})
	synctest.Test(t, func(t *testing.T) { // a panic of the loop's body
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		require.Panics(t, func() {
			for range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 16}) {
				panic("in the loop")
			}
		})
		require.Equal(t, 0, service.Open)
	})
}

// A page that fails comes in its place: what stands before it is delivered, what comes after it is not.
func TestPrefetchErrorInItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var list []harness.Step
		for number := 1; number <= 9; number++ {
			list = append(list, harness.After(time.Second, pageOf(number, number, "1 9 9")))
		}
		list[5] = func(r *http.Request) (*http.Response, error) { return harness.ServiceError(403, "forbidden")(r) } // at once
		client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(pages(list...))))
		got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 4}))
		require.Equal(t, ids(1, 5), got)
		require.ErrorIs(t, err, prepaid.ErrForbidden)
	})
}
