package prepaidpg

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// With unusual defaults of the role, and callers at serializable, each payment is still paid once.
func TestUnusualDefaults(t *testing.T) {
	t.Parallel()
	first := newPool(t)
	config := first.Config()
	config.MaxConns = 1
	maps.Copy(config.ConnConfig.RuntimeParams, map[string]string{
		"default_transaction_isolation": "serializable", "statement_timeout": "3000", "lock_timeout": "1000", "idle_session_timeout": "700",
		"idle_in_transaction_session_timeout": "3000", "synchronous_commit": "off", "TimeZone": "America/St_Johns", "DateStyle": "German",
		"IntervalStyle": "iso_8601", "search_path": "pg_catalog", "standard_conforming_strings": "on", "bytea_output": "escape", "extra_float_digits": "0",
	})
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	s, plain := openStore(t, pool), openStore(t, first)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sender := &teller{rest: 50 * time.Millisecond}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := s.Run(ctx, sender, Workers{N: 5, Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
				_, err := tx.Exec(ctx, "select 1")
				return err
			}}); err != nil {
				t.Error(err)
			}
		})
	}
	var ids []prepaid.RequestID
	for i := range 60 {
		p := transfer(time.Duration(i).String())
		ids = append(ids, p.RequestID)
		var both sync.WaitGroup
		for range 2 { // the same payment from two callers at serializable
			both.Go(func() {
				for {
					err := pgx.BeginTxFunc(t.Context(), first, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error { return plain.Enqueue(t.Context(), tx, "EA1", p) })
					if err == nil {
						return
					}
					if !strings.Contains(err.Error(), "40001") {
						t.Error(err)
						return
					}
				}
			})
		}
		both.Wait()
	}
	for ctx.Err() == nil && !plain.are(journal.StateDone, ids...)() {
		time.Sleep(20 * time.Millisecond)
	}
	require.True(t, plain.are(journal.StateDone, ids...)())
	cancel()
	wg.Wait()
	require.Len(t, sender.sent, 60)
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
