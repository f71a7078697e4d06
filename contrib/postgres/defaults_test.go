package prepaidpg

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// The log has no database errors of the caller's books.
func TestCommitErrorsOfTheBooksAreNotLogged(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec(`create table books (id text); create function refuse() returns trigger language plpgsql as $$begin raise exception 'no account for Erika Mustermann'; end$$;
		create constraint trigger c after insert on books deferrable initially deferred for each row execute function refuse()`)
	var log lockedBuffer
	s.log = slog.New(slog.NewTextHandler(&log, nil))
	s.add(1)
	logged := func() bool { log.mu.Lock(); defer log.mu.Unlock(); return log.b.Len() > 0 }
	require.NoError(t, s.runUntil(&teller{}, Workers{Settled: func(ctx context.Context, tx pgx.Tx, _ journal.Entry) error {
		_, err := tx.Exec(ctx, "insert into books values ('x')")
		return err
	}}, logged))
	t.Log(strings.SplitN(log.b.String(), "\n", 2)[0])
	require.NotContains(t, log.b.String(), "Mustermann")
}

// Books locked in another order, with persons' decisions in the same transactions, lose no outcome.
func TestDeadlocksWithTheBooks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table orders (id text primary key, state text)")
	ids := s.add(60)
	for _, id := range ids {
		s.exec("insert into orders values ($1, 'open')", string(id))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	sender := &teller{rest: 20 * time.Millisecond, reply: func(context.Context, prepaid.RequestID, time.Time) error {
		time.Sleep(30 * time.Millisecond)
		return nil
	}}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.Run(ctx, sender, Workers{N: 8, Claim: 8, Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
				_, err := tx.Exec(ctx, "update orders set state = $2 where id = $1", string(e.RequestID), string(e.State))
				return err
			}}); err != nil {
				t.Error(err)
			}
		})
	}
	var persons sync.WaitGroup
	for range 3 {
		persons.Go(func() {
			for _, id := range ids {
				_ = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, "update orders set state = state where id = $1", string(id)); err != nil {
						return err
					}
					time.Sleep(5 * time.Millisecond)
					_ = s.Withdraw(ctx, tx, id)
					return pgx.ErrNoRows // roll back: nothing is withdrawn
				})
			}
		})
	}
	persons.Wait()
	for ctx.Err() == nil && text(t, s.pool, "select count(*)::text from orders where state = 'done'") != "60" {
		time.Sleep(50 * time.Millisecond)
	}
	t.Log(text(t, s.pool, "select deadlocks::text from pg_stat_database where datname = current_database()"), "deadlocks")
	require.Equal(t, "60", text(t, s.pool, "select count(*)::text from orders where state = 'done'"))
	cancel()
	wg.Wait()
	require.Len(t, sender.sent, 60)
}
