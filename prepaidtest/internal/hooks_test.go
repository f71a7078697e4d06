package internal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// The cost of a hook grows linearly with the number of its failures.
func TestUndelivered_CopiesNothing(t *testing.T) {
	t.Parallel()
	source, running := ids.New(nil), activity.New()
	books := ledger.New(ledger.Options{IDs: source})
	armed := faults.NewQueue("", nil, 2)
	s := hooks.New(books, clock.New(time.Time{}, true), source, running, armed, hooks.Options{AlertEvery: time.Hour})
	l := books.Lock()
	a := l.NewAccount(l.PutCompany(state.Company{ID: 42}), time.Now())
	s.Add(l, hooks.Config{Enabled: true, Scope: []state.CompanyID{42}, Filter: "*", Reliability: "store_undeliverable"}) // without an address
	h := s.All(l.View)[0]
	l.Unlock()
	moved, before := 0, 0
	for range 1000 {
		l := books.Lock()
		s.Announce(l, a, ledger.Item{})
		l.Unlock()
		require.NoError(t, running.WaitIdle(t.Context()))
		l = books.Lock()
		if cap(h.Undeliverable) != before {
			moved, before = moved+1, cap(h.Undeliverable)
		}
		l.Unlock()
	}
	require.Len(t, h.Undeliverable, 1000)
	require.Less(t, moved, 50)
	require.True(t, running.Close())
	running.Stop()
	running.Wait()
}
