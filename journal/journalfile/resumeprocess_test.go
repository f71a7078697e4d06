package journalfile

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const sealKeyText = "0123456789abcdef0123456789abcdef"

// resumeAll is a program that has only the file and the key.
func resumeAll() int {
	j, client, err := resources()
	if err != nil {
		return exitOther
	}
	failed := int32(0)
	for _, err := range j.Resume(context.Background(), client.Accounts, 8) {
		if err != nil {
			failed++
		}
	}
	return ended(j, failed)
}

// A payroll loses many responses and is killed. Other processes, without its list and also killed, resume it.
func TestKilledPayrollIsResumedFromFileAndKey(t *testing.T) {
	t.Parallel()
	srv := newKillable(t, 11, 0.12)
	env := childKey + "=" + sealKeyText
	seal, err := journal.NewAEAD([]byte(sealKeyText))
	require.NoError(t, err)
	kills, resumedKills := 0, 0
	for _, goal := range []int{payments() / 3, payments() * 2 / 3} {
		_, killed := srv.run(t, "pay", func() bool { return len(srv.Transactions(srv.from)) > goal }, env)
		require.True(t, killed)
		kills++
		data, err := os.ReadFile(srv.path)
		require.NoError(t, err)
		for _, canary := range []string{"12345678", "CITIZEN", "062000", `"PAY"`} {
			require.False(t, bytes.Contains(data, []byte(canary)))
		}
		for over := false; !over; {
			began, moved := time.Now(), len(srv.Transactions(srv.from))
			over, killed = srv.run(t, "resume", func() bool {
				return resumedKills < 2*kills && (len(srv.Transactions(srv.from)) > moved+1 || time.Since(began) > time.Second)
			}, env)
			if killed {
				resumedKills++
			}
		}
		j, err := Open(srv.path, Options{Seal: seal, DigestKey: prepaid.NewSecret("key")})
		require.NoError(t, err)
		require.Empty(t, slices.Collect(j.Pending()))
		for e := range j.All() {
			require.Equal(t, journal.StateDone, e.State)
			require.Equal(t, 1, srv.Movements(e.RequestID))
		}
		require.GreaterOrEqual(t, len(slices.Collect(j.All())), goal) // one of the transactions is the opening balance
		require.NoError(t, j.Close())
	}
	require.GreaterOrEqual(t, resumedKills, 2)
	require.NoError(t, srv.WaitIdle(t.Context()))
	require.Empty(t, srv.PaidTwice())
}
