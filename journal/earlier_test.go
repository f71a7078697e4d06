package journal

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// A file of a version that kept digests only is opened, with a key for params too, and its list is run to its end.
func TestEarlierJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		data, err := os.ReadFile("testdata/without-sealed-params")
		require.NoError(t, err)
		options := sealing(t, 1)
		options.DigestKey = prepaid.NewSecret("key")
		j, m := openMemoryWith(t, data, options)
		require.Zero(t, j.Torn())
		require.Equal(t, data, m.data)
		day, err := prepaid.ParseDate("2026-11-20")
		require.NoError(t, err)
		states := map[string]State{
			"done": StateDone, "moved": StateDone, "unknown": StateUnknown, "intended": StateIntended, "not sent": StateNotSent,
			"rejected": StateRejected, "not moved": StateRejected,
		}
		_, errs := collect(t.Context(), j, newBank(), 1)
		require.Len(t, errs, 3)
		for name, state := range states {
			params := prepaid.TransferParams{
				RequestID: prepaid.DeriveRequestID(day, "old", name), Amount: prepaid.MustAmount("25.50"),
				SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: "987",
			}
			e, known := j.Get(params.RequestID)
			require.True(t, known, name)
			require.Equal(t, state, e.State, name)
			if state.Pending() {
				require.ErrorIs(t, errs[params.RequestID], ErrNoParams, name)
			}
			_, err := j.Transfer(t.Context(), newBank(), "1234567890", params)
			require.NoError(t, err, name)
		}
		require.Len(t, done(j), len(states))
	})
}
