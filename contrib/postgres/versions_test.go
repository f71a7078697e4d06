package prepaidpg

import (
	"context"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/webhook"
)

// The tables allow exactly the machine's states.
func TestSchemaKnowsTheStates(t *testing.T) {
	t.Parallel()
	var all, settled []string
	for _, s := range journal.States() {
		all = append(all, string(s))
		if !s.Pending() {
			settled = append(settled, string(s))
		}
	}
	quoted := regexp.MustCompile(`'([a-z_]+)'`)
	pool := newPool(t)
	statesOf := func(table, constraint string) (list []string) {
		definition := text(t, pool, `select pg_get_constraintdef(oid) from pg_constraint
			where conrelid = $1::regclass and conname = $2`, table, constraint)
		for _, match := range quoted.FindAllStringSubmatch(definition, -1) {
			list = append(list, match[1])
		}
		return list
	}
	require.ElementsMatch(t, all, statesOf("prepaid.payments", "payments_state_check"))
	require.ElementsMatch(t, settled, statesOf("prepaid.payments", "payments_none_left_out"))
	require.ElementsMatch(t, settled, statesOf("prepaid.archive", "archive_state_check"))

	// An entry in a state without params is neither sent nor retried with its params.
	var unsealed []string
	for _, s := range journal.States() {
		e := journal.Entry{State: s, Sealed: []byte("x"), RequestID: "r"}
		if after, err := e.Withdraw(time.Now()); err == nil && after.Sealed == nil {
			unsealed = append(unsealed, string(after.State))
		}
	}
	unsealed = append(slices.Compact(unsealed), string(journal.StateDone))
	require.ElementsMatch(t, unsealed, statesOf("prepaid.payments", "payments_sealed"))
}

// A program of this version does all its work while one of the next version migrates.
func TestThisVersionOnTheNext(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	s := openStore(t, pool)
	const half = 300
	_, err := s.batch(payroll("before", half))
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	recorded := 0
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, &teller{}, Workers{N: 2, Claim: 5, Trace: journal.Trace{
			Failed: func(err error) { t.Error(err) },
			Recorded: func(journal.Entry) {
				mu.Lock()
				defer mu.Unlock()
				if recorded++; recorded == 2*half+1 {
					stop()
				}
			},
		}})
	}()
	require.NoError(t, migrate(t.Context(), pool, "", nextMigrations(t)))
	require.NoError(t, checkVersion(t.Context(), pool, s.schema, 4))
	_, err = s.batch(payroll("after", half))
	require.NoError(t, err)
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		return s.Enqueue(t.Context(), tx, "float", salary("single"))
	}))
	require.NoError(t, <-ended)
	for _, e := range s.payments() {
		require.Equal(t, journal.StateDone, e.State)
	}

	later := openStore(t, pool) // a process of this version that starts now
	claims := newClaims(t, pool, webhook.ClaimOptions{Timeout: time.Minute})
	require.NoError(t, claimedID(t, claims, "h/1", time.Minute, webhook.ClaimWon).Done(t.Context()))
	id := later.aged(journal.StateDone, 40, "")
	moved, err := later.Archive(t.Context(), time.Now().Add(-38*day))
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	_, err = later.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "4", text(t, pool, "select count(*)::text from prepaid.versions"))
}

// A program opens tables that an earlier version has filled, and does their due payments and Settled calls.
func TestEarlierTables(t *testing.T) {
	t.Parallel()
	pool := emptyPool(t)
	dump, err := os.ReadFile("testdata/earlier.sql")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), string(dump))
	require.NoError(t, err)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	s := openStore(t, pool)
	s.exec(`with age as (select now() - max(enqueued) as is from prepaid.payments) update prepaid.payments set due = due + age.is,
		enqueued = enqueued + age.is, began = began + age.is, changed = changed + age.is, first_sent = first_sent + age.is,
		last_sent = last_sent + age.is, not_before = not_before + age.is from age`) // as if it had been filled just now
	for name, want := range map[string]journal.State{
		"done": journal.StateDone, "moved": journal.StateDone, "rejected": journal.StateRejected, "not-moved": journal.StateRejected,
		"withdrawn": journal.StateWithdrawn, "unknown": journal.StateUnknown, "queued": journal.StateQueued,
	} {
		require.Equal(t, want, s.entry(prepaid.RequestID("old-"+name)).State, name)
	}
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Retry(t.Context(), tx, "old-rejected") }))
	s.exec("update prepaid.payments set due = now() where request_id = 'old-unknown'") // it rests for an hour
	require.NoError(t, s.runUntil(&teller{}, Workers{}, s.are(journal.StateDone, "old-queued", "old-rejected")))
	require.Equal(t, time.Hour, s.entry("old-unknown").NotBefore.Sub(s.entry("old-unknown").LastSent).Round(time.Minute), "not before its time")
}
