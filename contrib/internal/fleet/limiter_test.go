package fleet_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/contrib/internal/fleet/fleettest"
)

// virtually runs check on virtual time, next to a pool in memory.
func virtually(t *testing.T, check func(*testing.T, fleettest.Backend)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { check(t, fleettest.NewMemory()) })
}

func TestState(t *testing.T) {
	t.Parallel()
	for name, check := range fleettest.Cases() {
		t.Run(name, func(t *testing.T) { virtually(t, check) })
	}
}

func TestLimiterHandsOverWhatIsNotNeeded(t *testing.T) {
	virtually(t, fleettest.HandsOverWhatIsNotNeeded)
}

func TestLimiterClose(t *testing.T)           { virtually(t, fleettest.Close) }
func TestLimiterStoreHangs(t *testing.T)      { virtually(t, fleettest.StoreHangs) }
func TestLimiterPausesTheOthers(t *testing.T) { virtually(t, fleettest.PausesTheOthers) }
func TestLimiterAsksInBlocks(t *testing.T)    { virtually(t, fleettest.AsksInBlocks) }

func TestLimitHolds(t *testing.T) {
	for life := range 40 {
		t.Run(strconv.Itoa(life), func(t *testing.T) { virtually(t, fleettest.LimitHolds) })
	}
}

func TestLimiterWithoutStore(t *testing.T) {
	t.Run("from the start", func(t *testing.T) {
		virtually(t, func(t *testing.T, s fleettest.Backend) {
			s.Kill(t)
			fleettest.StartWithoutStore(t, s.Open(t, ""))
		})
	})
	t.Run("to the end", func(t *testing.T) {
		virtually(t, func(t *testing.T, s fleettest.Backend) {
			s.Freeze(t)
			fleettest.CloseWithoutStore(t, s.Open(t, ""))
		})
	})
}

func TestLimiterRefusesOptions(t *testing.T) {
	t.Parallel()
	_, err := fleet.New(nil, fleet.Options{
		Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	}, prepaid.Fault{Field: "key", Rule: "is too long"})
	invalid, ok := err.(*prepaid.ValidationError)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 7)
	require.Equal(t, "key", invalid.Faults[0].Field)
}

// What nobody has used for an hour is forgotten, as Redis does with a key.
func TestStateIsForgotten(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	report := fleet.Report{ID: "a", Seq: 1, Need: [fleet.LaneCount]int{10}, Allowance: 100, Lease: time.Second, Gone: 3 * time.Second}
	for silence, want := range map[int64]int{hour - 1: 0, hour: 10} {
		state := fleet.State{}
		state.Exchange(fleet.Server{Run: "1", Now: 1_700_000_000_000, Up: hour}, report)
		other := report
		other.ID = "b"
		require.Equal(t, want, state.Exchange(fleet.Server{Run: "1", Now: 1_700_000_000_000 + silence, Up: hour}, other).Granted)
	}
}
