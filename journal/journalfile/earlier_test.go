package journalfile

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Files of earlier versions, with only digests or with sealed params, can be opened, resumed and completed.
func TestEarlierJournal(t *testing.T) {
	t.Parallel()
	for file, resumed := range map[string]error{"without-sealed-params": journal.ErrNoParams, "with-sealed-params": nil} {
		synctest.Test(t, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			options := sealing(t, 1)
			options.DigestKey = prepaid.NewSecret("key")
			j, m := openMemoryWith(t, data, options)
			require.Zero(t, j.Torn())
			require.True(t, bytes.HasPrefix(m.data, data), "what was read is kept")
			day, err := prepaid.ParseDate("2026-11-20")
			require.NoError(t, err)
			states := map[string]journal.State{
				"done": journal.StateDone, "moved": journal.StateDone, "unknown": journal.StateUnknown, "intended": journal.StateIntended, "not sent": journal.StateNotSent,
				"rejected": journal.StateRejected, "not moved": journal.StateRejected, "withdrawn": journal.StateWithdrawn,
			}
			if resumed != nil {
				delete(states, "withdrawn") // a state that did not exist
			}
			params := func(name string) prepaid.TransferParams {
				return prepaid.TransferParams{
					RequestID: prepaid.DeriveRequestID(day, "old", name), Amount: prepaid.MustAmount("25.50"),
					SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: "987",
				}
			}
			for name, state := range states {
				e, known := j.Get(params(name).RequestID)
				require.True(t, known, name)
				require.Equal(t, state, e.State, name)
			}
			_, errs := collect(t.Context(), j, newBank(), 1)
			require.Len(t, errs, 3)
			for _, name := range []string{"unknown", "intended", "not sent"} {
				require.ErrorIs(t, errs[params(name).RequestID], resumed, name)
			}
			for name, state := range states {
				_, err := j.Transfer(t.Context(), newBank(), "1234567890", params(name))
				require.Equal(t, state == journal.StateWithdrawn, errors.Is(err, journal.ErrWithdrawn), name)
				require.Equal(t, state == journal.StateWithdrawn, err != nil, name)
			}
			delete(states, "withdrawn")
			require.Len(t, done(j), len(states))
		})
	}
}
