package prepaidpg

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// What Settled does may be found out only by the commit, or make it impossible. The outcome is recorded all the same, and Settled is
// called again later.
func TestOutcomeIsRecordedWhateverSettledDoesToItsTransaction(t *testing.T) {
	t.Parallel()
	for name, settled := range map[string]func(ctx context.Context, tx pgx.Tx, e journal.Entry) error{
		"deferred constraint": func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
			_, err := tx.Exec(ctx, "insert into books values ($1)", string(e.RequestID))
			return err
		},
		"unread rows": func(ctx context.Context, tx pgx.Tx, _ journal.Entry) error {
			_, err := tx.Query(ctx, "select 1") //nolint:gocritic // that is the mistake
			return err
		},
		"idle in transaction": func(ctx context.Context, tx pgx.Tx, _ journal.Entry) error {
			_, err := tx.Exec(ctx, "set local idle_in_transaction_session_timeout = 50")
			time.Sleep(300 * time.Millisecond)
			return err
		},
		"rollback": func(ctx context.Context, tx pgx.Tx, _ journal.Entry) error {
			_, err := tx.Exec(ctx, "rollback")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.exec("create table orders (id text primary key); create table books (id text references orders deferrable initially deferred)")
			id := s.add(1)[0]
			calls, recorded := 0, 0
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
			defer cancel()
			err := s.Run(ctx, &teller{rest: time.Second}, Workers{
				N: 1,
				Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
					calls++
					return settled(ctx, tx, e)
				},
				Trace: Trace{Recorded: func(journal.Entry) { recorded++ }},
			})
			e := s.entry(id)
			unsettled := text(t, s.pool, "select (hook_due is not null)::text from prepaid.payments")
			t.Logf("Run: %v; row: %s, Settled is due: %s; Settled called %d times, Recorded %d times", err, e.State, unsettled, calls, recorded)
			require.Equal(t, journal.StateDone, e.State)
			require.Equal(t, "true", unsettled)
			require.NoError(t, err)
			require.Less(t, calls, 20)
		})
	}
}

// One payment whose Settled cannot be committed does not hold up that of the others.
func TestSettledLaterIsNotHeldUpByAnother(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table orders (id text primary key); create table books (id text references orders deferrable initially deferred)")
	ids := s.add(2)
	s.exec(`insert into orders values ($1)`, ids[1])
	s.exec(`update prepaid.payments set state = 'done', due = null, sealed = null, hook_due = now() - interval '1 minute' where request_id = $1`, ids[0])
	s.exec(`update prepaid.payments set state = 'done', due = null, sealed = null, hook_due = now() where request_id = $1`, ids[1])
	var seen []prepaid.RequestID
	r := &run{Store: s.Store, unsettled: make(chan struct{}, 1), workers: Workers{
		Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
			seen = append(seen, e.RequestID)
			_, err := tx.Exec(ctx, "insert into books values ($1)", string(e.RequestID))
			return err
		},
	}}
	for range 4 {
		_, err := r.settleOne(t.Context())
		t.Log(err)
	}
	require.Contains(t, seen, ids[1])
}
