package internal_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/pages"
)

// page is a service's response: its counts, and the ids of its items.
type page struct {
	pages.Head
	ids []string
}

func (p *page) head() pages.Head { return p.Head }

// readPages reads all of a list, and fails the test when an item is met twice.
func readPages(t *testing.T, ahead int, fetch pages.Fetcher[*page]) (ids []string, failed error) {
	t.Helper()
	sequence := pages.Sequential(t.Context(), 1, fetch)
	if ahead > 0 {
		sequence = pages.Prefetched(t.Context(), 1, ahead, fetch, (*page).head)
	}
	p := pages.NewProgress(1, false)
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

func TestListsThatEndEarly(t *testing.T) {
	t.Parallel()
	_, err := readPages(t, 0, func(context.Context, int, <-chan struct{}) (*page, error) {
		return &page{Head: pages.Head{Number: 1, Pages: 1, Items: 5, Received: 1, Reported: true, Counted: true}, ids: []string{"a"}}, nil
	})
	incomplete, ok := errors.AsType[*pages.Incomplete](err)
	require.True(t, ok)
	require.Equal(t, pages.Incomplete{Seen: 1, Total: 5}, *incomplete)
	require.EqualError(t, err, "list incomplete")

	_, err = readPages(t, 0, func(_ context.Context, number int, _ <-chan struct{}) (*page, error) { // it ignores the number
		return &page{Head: pages.Head{Number: number, Pages: 3, Received: 1, Reported: true}, ids: []string{"a"}}, nil
	})
	require.ErrorIs(t, err, pages.ErrRepeated)
}

// A service that ignores the page number while one item is added per request is noticed. It is different if nearly as many
// items leave as are added: they repeat the end of the page before.
func TestRepeatedPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string // an item for each letter
		growth        int
		want          error
	}{
		"ignores the number":         {"abcdefghijklmnopqrst", "Aabcdefghijklmnopqrs", 1, pages.ErrRepeated},
		"ignores it, adds two":       {"abcdefghijklmnopqrst", "ABabcdefghijklmnopqr", 2, pages.ErrRepeated},
		"ignores it, adds half":      {"ab", "Aa", 1, pages.ErrRepeated},
		"five are added, four leave": {"abcdefgh", "defghijk", 1, nil},
		"most of the page moves":     {"abcdefgh", "bcdefghi", 1, nil},
	} {
		p := pages.NewProgress(1, true)
		for i, ids := range []string{c.first, c.second} {
			p.Begin(pages.Head{Number: i + 1, Size: len(ids), Pages: 5, Items: 4*len(ids) + i*c.growth, Received: len(ids), Reported: true, Counted: true})
			for _, id := range ids {
				p.IsNew(string(id))
			}
			last, err := p.End()
			if i == 1 {
				require.ErrorIs(t, err, c.want, name)
				require.Equal(t, err != nil, last, name)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page   pages.Head
		leaves bool
		err    bool
	}{
		"beyond what was not counted": {pages.Head{Number: 1, Received: 10}, false, false},
		"a page that was promised":    {pages.Head{Number: 1, Received: 10, Pages: 2, Reported: true}, false, true},
		"... of a list items leave":   {pages.Head{Number: 1, Received: 10, Pages: 2, Reported: true}, true, true},
		"beyond the last":             {pages.Head{Number: 1, Received: 10, Pages: 1, Reported: true}, false, false},
	} {
		p := pages.NewProgress(1, c.leaves)
		require.False(t, p.Started())
		p.Begin(c.page)
		require.True(t, p.Started())
		require.Equal(t, c.err, p.Refused() != nil, name)
	}
}

// Pages are fetched ahead, never beyond the last, and delivered in order. A page that is older than the one before it is read
// again.
func TestPrefetched(t *testing.T) {
	t.Parallel()
	most := 0
	total := map[int]int{1: 40, 2: 41, 3: 39, 4: 41}
	again := 0
	var numbers []int
	var mu sync.Mutex
	fetch := func(_ context.Context, number int, _ <-chan struct{}) (*page, error) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, number)
		if number == 3 {
			if again++; again == 2 {
				total[3] = 41
			}
		}
		return &page{Head: pages.Head{Number: number, Pages: 4, Items: total[number], Received: 10, Reported: true, Counted: true}}, nil
	}
	for one, err := range pages.Prefetched(t.Context(), 1, 1, fetch, (*page).head) {
		require.NoError(t, err)
		if numbers = append(numbers, one.Number); one.Number == 4 {
			break
		}
	}
	require.Equal(t, []int{1, 2, 3, 4}, numbers)
	require.Equal(t, 4, most)
	require.Equal(t, 2, again)

	broken := errors.New("broken")
	for one, err := range pages.Prefetched(t.Context(), 1, 3, func(context.Context, int, <-chan struct{}) (*page, error) { return nil, broken }, (*page).head) {
		require.Nil(t, one)
		require.ErrorIs(t, err, broken)
	}
}

// counts is a service that responds after a second with the counts that it is given for each copy of a page in turn; -1
// leaves the counts out.
type counts struct {
	mu      sync.Mutex
	pages   int
	items   map[int][]int
	slow    map[int]bool // these take a second more
	fetched []int
}

func (c *counts) fetch(ctx context.Context, number int, _ <-chan struct{}) (*page, error) {
	c.mu.Lock()
	c.fetched = append(c.fetched, number)
	items := c.items[number]
	if len(items) > 1 {
		c.items[number] = items[1:]
	}
	c.mu.Unlock()
	pause := time.Second
	if c.slow[number] {
		pause *= 2
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := &page{Head: pages.Head{Number: number, Pages: c.pages, Items: 100, Reported: true, Counted: true}}
	if len(items) > 0 {
		p.Items, p.Counted = items[0], items[0] >= 0
	}
	return p, nil
}

// Pages that may be older than their predecessor are read again, as many as possible at the same time.
func TestOldPagesAreReadAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		items  map[int][]int
		slow   map[int]bool
		pages  int
		rounds int
		again  []int // in addition to the window of 5
	}{
		"all are new":      {nil, nil, 6, 2, nil},
		"one is old":       {map[int][]int{4: {99, 100}}, nil, 6, 3, []int{4}},
		"one is newer":     {map[int][]int{3: {101}, 4: {100, 101}, 5: {100, 101}, 6: {100, 101}}, nil, 6, 3, []int{4, 5, 6}},
		"and others after": {map[int][]int{3: {101}, 4: {100, 102}, 5: {100, 102}, 6: {102}}, nil, 6, 3, []int{4, 5}},
		"one comes late":   {map[int][]int{3: {101}, 4: {100, 101}, 5: {100, 101}, 6: {101}}, map[int]bool{5: true}, 6, 5, []int{4, 5}},
		"uncounted":        {map[int][]int{3: {-1}}, nil, 4, 4, []int{3, 4}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := counts{pages: tc.pages, items: tc.items, slow: tc.slow}
			began := time.Now()
			for one, err := range pages.Prefetched(t.Context(), 1, 4, c.fetch, (*page).head) {
				require.NoError(t, err)
				if one.Number == tc.pages {
					break
				}
				time.Sleep(time.Millisecond) // pages due at the same time have arrived
			}
			for number := 1; number <= tc.pages; number++ {
				i := slices.Index(c.fetched, number)
				c.fetched = slices.Delete(c.fetched, i, i+1)
			}
			require.ElementsMatch(t, tc.again, c.fetched, name)
			require.EqualValues(t, tc.rounds, time.Since(began)/time.Second, name)
		})
	}
}
