package webhook

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// scripted is a ClaimStore and a Claim that returns the given results and notes its calls.
type scripted struct {
	state                ClaimState
	claim, done, release func(ctx context.Context) error
	ids                  []string
	leases               []time.Duration
	settled              []string
}

func (s *scripted) Claim(ctx context.Context, id string, lease time.Duration) (Claim, error) {
	s.ids, s.leases = append(s.ids, id), append(s.leases, lease)
	if s.claim != nil {
		return s, s.claim(ctx)
	}
	return s, nil
}

func (s *scripted) State() ClaimState { return s.state }

func (s *scripted) Done(ctx context.Context) error {
	s.settled = append(s.settled, "done")
	if s.done != nil {
		return s.done(ctx)
	}
	return nil
}

func (s *scripted) Release(ctx context.Context) error {
	s.settled = append(s.settled, "release")
	if s.release != nil {
		return s.release(ctx)
	}
	return nil
}

func TestClaimStoreTroubles(t *testing.T) {
	t.Parallel()
	fault := errors.New("store down")
	fails := func(context.Context) error { return fault }
	panics := func(context.Context) error { panic("SECRET") }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	refuse := errors.New("refused")
	for name, c := range map[string]struct {
		store   scripted
		handle  error
		status  int
		handled int
		settled []string
		reports []int
	}{
		"fine":        {store: scripted{state: ClaimWon}, status: 200, handled: 1, settled: []string{"done"}},
		"refused":     {store: scripted{state: ClaimWon}, handle: refuse, status: 500, handled: 1, settled: []string{"release"}, reports: []int{500}},
		"done before": {store: scripted{state: ClaimDone}, status: 200},
		"in flight":   {store: scripted{state: ClaimInFlight}, status: 503, reports: []int{503}},
		"no state":    {store: scripted{}, status: 503, reports: []int{503}},
		"claim fails": {store: scripted{state: ClaimWon, claim: fails}, status: 503, reports: []int{503}},
		"claim exits": {
			store:  scripted{state: ClaimWon, claim: func(context.Context) error { runtime.Goexit(); return nil }},
			status: 503, reports: []int{503},
		},
		"claim panics":   {store: scripted{state: ClaimWon, claim: panics}, status: 503, reports: []int{503}},
		"done fails":     {store: scripted{state: ClaimWon, done: fails}, status: 200, handled: 1, settled: []string{"done"}, reports: []int{0}},
		"done panics":    {store: scripted{state: ClaimWon, done: panics}, status: 200, handled: 1, settled: []string{"done"}, reports: []int{0}},
		"done hangs":     {store: scripted{state: ClaimWon, done: hangs}, status: 200, handled: 1, settled: []string{"done"}, reports: []int{0}},
		"release fails":  {store: scripted{state: ClaimWon, release: fails}, handle: refuse, status: 500, handled: 1, settled: []string{"release"}, reports: []int{0, 500}},
		"release, lost":  {store: scripted{state: ClaimWon, release: func(context.Context) error { return ErrClaimLost }}, handle: refuse, status: 500, handled: 1, settled: []string{"release"}, reports: []int{500}},
		"release panics": {store: scripted{state: ClaimWon, release: panics}, handle: refuse, status: 500, handled: 1, settled: []string{"release"}, reports: []int{0, 500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen recorder
				config := open(func(ctx context.Context, m *prepaid.Message) error {
					return errors.Join(seen.take(ctx, m), c.handle)
				})
				config.Claims, config.OnFailure = &c.store, seen.fail
				w := post(t, newHandler(t, config), transaction)
				require.Equal(t, c.status, w.Code)
				require.Equal(t, c.status == 503, w.Header().Get("Retry-After") != "")
				require.Equal(t, c.handled, seen.count())
				require.Equal(t, c.settled, c.store.settled)
				require.Equal(t, []string{"h1/m1"}, c.store.ids)
				require.Equal(t, []time.Duration{20 * time.Second}, c.store.leases)
				var reports []int
				for _, failed := range seen.failed() {
					reports = append(reports, failed.status)
					require.NotContains(t, failed.err.Error(), "SECRET")
				}
				require.Equal(t, c.reports, reports)
			})
		})
	}
}

// The store has separate time when the handling time is used up.
func TestReleaseAfterTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen recorder
		config := open(func(ctx context.Context, _ *prepaid.Message) error { <-ctx.Done(); return ctx.Err() })
		config.Claims = &scripted{state: ClaimWon, release: func(ctx context.Context) error { return ctx.Err() }}
		config.OnFailure = seen.fail
		require.Equal(t, 500, post(t, newHandler(t, config), transaction).Code)
		synctest.Wait()
		require.Len(t, seen.failed(), 1, "the release did not fail")
	})
}

// A store that hangs in Claim is bounded by Timeout.
func TestClaimStoreHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen recorder
		config := open(seen.take)
		config.Claims = &scripted{state: ClaimWon, claim: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		began := time.Now()
		require.GreaterOrEqual(t, post(t, newHandler(t, config), transaction).Code, 500)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.Zero(t, seen.count())
	})
}

func TestClaimKey(t *testing.T) {
	t.Parallel()
	sum := func(m *prepaid.Message) {
		key := ClaimID(m)
		require.Len(t, key, len("sha256:")+64)
		require.True(t, strings.HasPrefix(key, "sha256:"))
	}
	require.Empty(t, ClaimID(&prepaid.Message{HookID: "h"}))
	require.Equal(t, "h/m", ClaimID(&prepaid.Message{HookID: "h", ID: "m"}))
	require.Equal(t, "/m", ClaimID(&prepaid.Message{ID: "m"}))
	require.Equal(t, "h%2F1/2", ClaimID(&prepaid.Message{HookID: "h/1", ID: "2"}))
	require.Equal(t, "h/1/2", ClaimID(&prepaid.Message{HookID: "h", ID: "1/2"}))
	require.Equal(t, "h%252F1/2", ClaimID(&prepaid.Message{HookID: "h%2F1", ID: "2"}))
	require.Len(t, ClaimID(&prepaid.Message{HookID: "h", ID: prepaid.MessageID(strings.Repeat("x", 126))}), 128)
	for _, unusual := range []prepaid.MessageID{prepaid.MessageID(strings.Repeat("x", 127)), "a b", "a\x00", "ä", "\xff", "\n"} {
		sum(&prepaid.Message{HookID: "h", ID: unusual})
	}
	require.NotEqual(t, ClaimID(&prepaid.Message{ID: "a b"}), ClaimID(&prepaid.Message{ID: "a  b"}))
	long := prepaid.HookID(strings.Repeat("x", 1_000_000))
	require.NotEqual(t, ClaimID(&prepaid.Message{HookID: long, ID: "1"}), ClaimID(&prepaid.Message{HookID: long, ID: "2"}))
	require.NotEqual(t, ClaimID(&prepaid.Message{HookID: long, ID: "1"}), ClaimID(&prepaid.Message{HookID: "ä", ID: "1"}))
	require.NotEqual(t, ClaimID(&prepaid.Message{HookID: long + "/1", ID: "2"}), ClaimID(&prepaid.Message{HookID: long, ID: "1/2"}))
}
