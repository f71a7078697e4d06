package prepaidpg

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
	"github.com/cardprograms/prepaid/webhook/claimtest"
)

func newClaims(t *testing.T, pool *pgxpool.Pool, options webhook.ClaimOptions) *Claims {
	t.Helper()
	store, err := NewClaims(pool, "", options)
	require.NoError(t, err)
	return store
}

func claimedID(t *testing.T, store *Claims, id string, lease time.Duration, want webhook.ClaimState) webhook.Claim {
	t.Helper()
	c, err := store.Claim(t.Context(), id, lease)
	require.NoError(t, err)
	require.Equal(t, want, c.State())
	return c
}

func TestClaims(t *testing.T) {
	t.Parallel()
	claimtest.Run(t, func(t *testing.T, keep time.Duration) (one, two webhook.ClaimStore) {
		pool := newPool(t)
		other, err := pgxpool.New(t.Context(), pool.Config().ConnString())
		require.NoError(t, err)
		t.Cleanup(other.Close)
		return newClaims(t, pool, webhook.ClaimOptions{Keep: keep, Timeout: time.Minute}), newClaims(t, other, webhook.ClaimOptions{Keep: keep, Timeout: time.Minute})
	})
}

// Later claims remove expired ones, without a goroutine.
func TestClaimsAreCleaned(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	store := newClaims(t, pool, webhook.ClaimOptions{Keep: time.Millisecond, Timeout: time.Minute})
	_, err := pool.Exec(t.Context(), `insert into prepaid.claims select 'h/' || i, '', now() - interval '1 s', i % 2 = 0
		from generate_series(1, 45) i`)
	require.NoError(t, err)
	for i := range 6 {
		claimedID(t, store, "new/"+strconv.Itoa(i), time.Minute, webhook.ClaimWon)
	}
	require.Equal(t, "6", text(t, pool, "select count(*)::text from prepaid.claims"))
}

func TestClaimsPostgresAway(t *testing.T) {
	t.Parallel()
	server, pool := ownServer(t, nil)
	store := newClaims(t, pool, webhook.ClaimOptions{Timeout: time.Minute})
	hasty := newClaims(t, pool, webhook.ClaimOptions{Timeout: 100 * time.Millisecond})
	c := claimedID(t, store, "h/1", time.Minute, webhook.ClaimWon)

	require.NoError(t, server.Freeze())
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := store.Claim(brief, "h/2", time.Minute)
	require.Equal(t, context.DeadlineExceeded, err)
	require.Equal(t, context.DeadlineExceeded, c.Done(brief))
	_, err = hasty.Claim(t.Context(), "h/2", time.Minute)
	require.Error(t, err, "the store's own timeout")
	require.NoError(t, server.Thaw())
	require.NoError(t, c.Done(t.Context()), "it can be tried again")

	held := claimedID(t, store, "h/3", time.Minute, webhook.ClaimWon)
	require.NoError(t, server.Kill())
	_, err = store.Claim(t.Context(), "h/4", time.Minute)
	require.Error(t, err)
	require.Error(t, held.Done(t.Context()))
	require.NoError(t, server.Restart(t.Context()))
	require.NoError(t, held.Done(t.Context()), "the lease has survived")
	claimedID(t, store, "h/1", time.Minute, webhook.ClaimDone)
}

// A message's effect and its mark commit together: if the database crashes at any point, the effect happens once.
func TestDoneTxOnce(t *testing.T) {
	t.Parallel()
	server, pool := ownServer(t, nil)
	_, err := pool.Exec(t.Context(), "create table effects (id text)")
	require.NoError(t, err)
	store := newClaims(t, pool, webhook.ClaimOptions{Timeout: time.Minute})
	points := []string{"before the mark", "before the commit", "after the commit", "never"}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			m := &prepaid.Message{ID: prepaid.MessageID("m-" + strings.ReplaceAll(point, " ", "-")), HookID: "h", Type: prepaid.MessageTypeTransaction}
			crash := point
			reach := func(here string) {
				if here == crash {
					crash = ""
					require.NoError(t, server.Kill())
				}
			}
			handler, err := webhook.NewHandler(webhook.Config{
				AllowUnverified: true, Claims: store, Timeout: 2 * time.Second,
				OnTransaction: func(ctx context.Context, m *prepaid.Message) error {
					err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
						if _, err := tx.Exec(ctx, "insert into effects values ($1)", m.ID); err != nil {
							return err
						}
						reach("before the mark")
						if err := store.DoneTx(ctx, tx, webhook.ClaimID(m)); err != nil {
							return err
						}
						reach("before the commit")
						return nil
					})
					if errors.Is(err, webhook.ErrClaimLost) {
						return nil
					}
					reach("after the commit")
					return err
				},
			})
			require.NoError(t, err)
			_ = handler.Handle(t.Context(), m)
			require.NoError(t, server.Restart(t.Context()))
			require.Eventually(t, func() bool { return handler.Handle(t.Context(), m) == nil }, time.Minute, 20*time.Millisecond)
			require.NoError(t, handler.Handle(t.Context(), m), "again")
			require.Equal(t, "1", text(t, pool, "select count(*)::text from effects where id = $1", m.ID))
		})
	}
}

// A holder that overran its lease and its successor have one effect together.
func TestDoneTxOfTwoHolders(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	store := newClaims(t, pool, webhook.ClaimOptions{Timeout: time.Minute})
	begin := func() pgx.Tx {
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		return tx
	}
	late := claimedID(t, store, "h/1", time.Millisecond, webhook.ClaimWon)
	time.Sleep(2 * time.Millisecond)
	holder := claimedID(t, store, "h/1", time.Minute, webhook.ClaimWon)
	first, second := begin(), begin()
	require.NoError(t, store.DoneTx(t.Context(), first, "h/1"))
	claimedID(t, store, "h/1", time.Minute, webhook.ClaimInFlight) // without waiting for it
	lost := make(chan error, 1)
	go func() { lost <- store.DoneTx(t.Context(), second, "h/1") }()
	time.Sleep(20 * time.Millisecond)
	require.Empty(t, lost, "it does not wait")
	require.NoError(t, first.Commit(t.Context()))
	require.Equal(t, webhook.ErrClaimLost, <-lost)
	require.NoError(t, second.Rollback(t.Context()))

	claimedID(t, store, "h/1", time.Minute, webhook.ClaimDone)
	require.Equal(t, webhook.ErrClaimLost, late.Done(t.Context()))
	require.NoError(t, holder.Done(t.Context()), "as a Handler calls it afterwards")
	require.Equal(t, webhook.ErrClaimLost, holder.Release(t.Context()))
	claimedID(t, store, "h/1", time.Minute, webhook.ClaimDone)

	// The mark remains, whatever the function returns after its commit.
	failed := claimedID(t, store, "h/2", time.Minute, webhook.ClaimWon)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return store.DoneTx(t.Context(), tx, "h/2") }))
	require.Equal(t, webhook.ErrClaimLost, failed.Release(t.Context()))
	claimedID(t, store, "h/2", time.Minute, webhook.ClaimDone)

	rolledBack := begin()
	require.NoError(t, store.DoneTx(t.Context(), rolledBack, "h/rolled-back"))
	require.NoError(t, rolledBack.Rollback(t.Context()))
	claimedID(t, store, "h/rolled-back", time.Minute, webhook.ClaimWon)
}

func TestClaimsRefuse(t *testing.T) {
	t.Parallel()
	_, err := NewClaims(nil, "A", webhook.ClaimOptions{Keep: -1, Timeout: -1})
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok)
	require.Len(t, invalid.Faults, 4)

	store := newClaims(t, newPool(t), webhook.ClaimOptions{})
	for _, c := range []struct {
		id    string
		lease time.Duration
	}{{"", time.Second}, {strings.Repeat("x", 129), time.Second}, {"a b", time.Second}, {"SECRET\x00", 1}} {
		_, err := store.Claim(t.Context(), c.id, c.lease)
		invalid, ok := errors.AsType[*prepaid.ValidationError](err)
		require.True(t, ok, "%v", err)
		require.NotContains(t, invalid.Error(), "SECRET")
		require.ErrorAs(t, store.DoneTx(t.Context(), nil, c.id), &invalid)
	}
}
