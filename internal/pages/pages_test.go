package pages

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is what a service returns: how it counts, and the ids of its items.
type page struct {
	Head
	ids []string
}

func (p *page) head() Head { return p.Head }

// listOf returns a service that has n items at first, size of them a page, and added before the pages that change names.
func listOf(n, size int, change map[int]int, count bool) Fetcher[*page] {
	first := 0
	return func(_ context.Context, number int, _ bool) (*page, error) {
		first -= change[number] // newer items come before all others
		delete(change, number)
		total := n - first
		p := &page{Head: Head{Number: number, Size: size, Reported: count, Counted: count}}
		if count {
			p.Pages, p.Items = (total+size-1)/size, total
		}
		for i := first + (number-1)*size; i < n && len(p.ids) < size; i++ {
			p.ids = append(p.ids, strconv.Itoa(i))
		}
		p.Received = len(p.ids)
		return p, nil
	}
}

// read reads all of a list, and fails the test when an item is met twice.
func read(t *testing.T, ahead int, fetch Fetcher[*page]) (ids []string, failed error) {
	t.Helper()
	sequence := Sequential(t.Context(), 1, fetch)
	if ahead > 0 {
		sequence = Prefetched(t.Context(), 1, ahead, fetch, (*page).head)
	}
	p := NewProgress(1, false)
	for one, err := range sequence {
		require.NoError(t, err)
		p.Begin(one.Head)
		for _, id := range one.ids {
			if p.IsNew(id) {
				require.NotContains(t, ids, id)
				ids = append(ids, id)
			}
		}
		if last, err := p.End(); err != nil || last {
			return ids, err
		}
	}
	return ids, nil
}

func TestEveryItemIsMetOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 9, 10, 11, 30} {
		for _, count := range []bool{true, false} {
			ids, err := read(t, 0, listOf(n, 10, nil, count))
			require.NoError(t, err)
			require.Len(t, ids, n)
		}
	}
	ids, err := read(t, 0, listOf(30, 10, map[int]int{2: 3, 3: 12}, true))
	require.NoError(t, err)
	for i := range 30 {
		require.Contains(t, ids, strconv.Itoa(i))
	}
}

func TestListsThatEndEarly(t *testing.T) {
	t.Parallel()
	_, err := read(t, 0, func(context.Context, int, bool) (*page, error) {
		return &page{Head: Head{Number: 1, Pages: 1, Items: 5, Received: 1, Reported: true, Counted: true}, ids: []string{"a"}}, nil
	})
	incomplete, ok := errors.AsType[*Incomplete](err)
	require.True(t, ok)
	require.Equal(t, Incomplete{Seen: 1, Total: 5}, *incomplete)
	require.EqualError(t, err, "list incomplete")

	_, err = read(t, 0, func(_ context.Context, number int, _ bool) (*page, error) { // it ignores the number
		return &page{Head: Head{Number: number, Pages: 3, Received: 1, Reported: true}, ids: []string{"a"}}, nil
	})
	require.ErrorIs(t, err, ErrRepeated)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page   *Head
		leaves bool
		ended  bool
		err    bool
	}{
		"the first page":              {nil, false, false, false},
		"beyond what was not counted": {&Head{Number: 1, Received: 10}, false, true, false},
		"a page that was promised":    {&Head{Number: 1, Received: 10, Pages: 2, Reported: true}, false, false, true},
		"... of a list items leave":   {&Head{Number: 1, Received: 10, Pages: 2, Reported: true}, true, true, true},
		"beyond the last":             {&Head{Number: 1, Received: 10, Pages: 1, Reported: true}, false, true, false},
	} {
		p := NewProgress(1, c.leaves)
		require.False(t, p.Started())
		if c.page != nil {
			p.Begin(*c.page)
			require.True(t, p.Started())
		}
		ended, err := p.Refused()
		require.Equal(t, c.ended, ended, name)
		require.Equal(t, c.err, err != nil, name)
	}
}

// Pages are fetched ahead in a growing window, never beyond the last, and delivered in order. A page that is older than the
// one before it is read again.
func TestPrefetched(t *testing.T) {
	t.Parallel()
	most := 0
	total := map[int]int{1: 40, 2: 41, 3: 39, 4: 41}
	again := 0
	var numbers []int
	var mu sync.Mutex
	fetch := func(_ context.Context, number int, _ bool) (*page, error) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, number)
		if number == 3 {
			if again++; again == 2 {
				total[3] = 41
			}
		}
		return &page{Head: Head{Number: number, Pages: 4, Items: total[number], Received: 10, Reported: true, Counted: true}}, nil
	}
	for one, err := range Prefetched(t.Context(), 1, 1, fetch, (*page).head) {
		require.NoError(t, err)
		if numbers = append(numbers, one.Number); one.Number == 4 {
			break
		}
	}
	require.Equal(t, []int{1, 2, 3, 4}, numbers)
	require.Equal(t, 4, most)
	require.Equal(t, 2, again)

	broken := errors.New("broken")
	for one, err := range Prefetched(t.Context(), 1, 3, func(context.Context, int, bool) (*page, error) { return nil, broken }, (*page).head) {
		require.Nil(t, one)
		require.ErrorIs(t, err, broken)
	}
}
