package prepaidpg

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const day = 24 * time.Hour

// aged adds a payment in a state since some days, with a request ID of that day or the given one.
func (s testStore) aged(state journal.State, days int, id prepaid.RequestID) prepaid.RequestID {
	s.t.Helper()
	on := prepaid.DateOf(time.Now().UTC().Add(time.Duration(-days) * day))
	if id == "" {
		id = prepaid.DeriveRequestID(on, string(state), strconv.Itoa(days))
	}
	temporary := prepaid.NewRequestID()
	require.NoError(s.t, s.in(func(tx pgx.Tx) error {
		if err := s.Enqueue(s.t.Context(), tx, "float", salary(temporary)); err != nil {
			return err
		}
		_, err := tx.Exec(s.t.Context(), `update prepaid.payments set request_id = $2, state = $3, changed = now() - $4 * interval '1 day',
			due = case when $5 then due end, transaction_id = case when $3 = 'done' then 'tx' end,
			sealed = case when $3 not in ('done', 'withdrawn') then sealed end
			where request_id = $1`, temporary, id, state, days, state.Pending())
		return err
	}))
	return id
}

func TestArchive(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	gone := map[prepaid.RequestID]journal.Entry{}
	for _, state := range journal.States() {
		id := s.aged(state, 40, "")
		e, err := s.Get(t.Context(), id)
		require.NoError(t, err)
		if !state.Pending() {
			gone[id] = e
		}
		s.aged(state, 36, "")
	}
	require.Len(t, gone, 3)
	today := prepaid.DateOf(time.Now().UTC())
	hook := s.aged(journal.StateDone, 41, "")
	s.exec("update prepaid.payments set hook_due = now() where request_id = $1", hook)
	s.aged(journal.StateDone, 40, prepaid.DeriveRequestID(today, "can still be sent"))
	s.aged(journal.StateDone, 400, "a format of one's own")
	s.aged(journal.StateDone, 400, "20251399-7064-8000-8000-000000000000")
	for state, review := range map[journal.State]journal.Review{journal.StateUnknown: journal.ReviewTooOld, journal.StateRejected: journal.ReviewReused} {
		s.exec("update prepaid.payments set due = null, review = $2 where request_id = $1", s.aged(state, 50, ""), review)
	}

	all := s.payments()
	moved, err := s.Archive(t.Context(), time.Now().Add(-38*day))
	require.NoError(t, err)
	require.Equal(t, len(gone), moved)
	require.Equal(t, "3", text(t, s.pool, "select count(*)::text from prepaid.archive"))
	require.Equal(t, strconv.Itoa(len(all)-3), text(t, s.pool, "select count(*)::text from prepaid.payments"))
	require.Equal(t, all, s.payments(), "they are still seen")
	for id, want := range gone {
		got, err := s.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.ErrorIs(t, s.in(func(tx pgx.Tx) error {
			return s.Enqueue(t.Context(), tx, "float", salary(id))
		}), prepaid.ErrRequestIDExpired)
	}
	moved, err = s.Archive(t.Context(), time.Now().Add(-38*day))
	require.NoError(t, err)
	require.Zero(t, moved)
}

// A payment that is due again when a concurrent transaction commits stays with the workers.
func TestArchiveDoesNotTakeWhatIsRetried(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.aged(journal.StateRejected, 40, "")
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		if err := s.Retry(t.Context(), tx, id); err != nil {
			return err
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		moved, err := s.Archive(brief, time.Now().Add(-38*day))
		require.Zero(t, moved)
		return err
	}))
	require.Equal(t, "not_sent", text(t, s.pool, "select state from prepaid.payments where request_id = $1", id))
}

// Payments with the program's own request IDs, which the program has archived itself, remain known.
func TestArchivedIsKnown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		if err := s.Enqueue(t.Context(), tx, "float", salary("own-1")); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), "update prepaid.payments set state = 'done', due = null, sealed = null"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), s.sql.Replace(archiveSQL), []string{"own-1"})
		return err
	}))
	other := salary("own-1")
	other.Amount = prepaid.MustAmount("1.00")
	for _, add := range []func(pgx.Tx, prepaid.PaymentParams) error{
		func(tx pgx.Tx, p prepaid.PaymentParams) error { return s.Enqueue(t.Context(), tx, "float", p) },
		func(tx pgx.Tx, p prepaid.PaymentParams) error {
			_, err := s.EnqueueBatch(t.Context(), tx, each(journal.Payment{Account: "float", Params: p}))
			return err
		},
	} {
		require.NoError(t, s.in(func(tx pgx.Tx) error { return add(tx, salary("own-1")) }))
		require.ErrorIs(t, s.in(func(tx pgx.Tx) error { return add(tx, other) }), journal.ErrChanged)
	}
	require.Equal(t, "0", text(t, s.pool, "select count(*)::text from prepaid.payments"))
}

// The statement in the documentation, for payments that need not be kept any more.
func TestArchiveErasure(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.aged(journal.StateDone, 8*366, "")
	kept := s.aged(journal.StateDone, 40, "")
	moved, err := s.Archive(t.Context(), time.Now().Add(-38*day))
	require.NoError(t, err)
	require.Equal(t, 2, moved)
	s.exec(`with gone as (delete from prepaid.archive where changed < now() - interval '7 years' returning number)
		delete from prepaid.history where payment in (select number from gone)`)
	require.Equal(t, kept, s.payments()[0].RequestID)
	require.Equal(t, "1", text(t, s.pool, "select count(*)::text from prepaid.history"))
}

func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, ago := range []time.Duration{0, 37*day - time.Minute} {
		_, err := s.Archive(t.Context(), time.Now().Add(-ago))
		invalid := new(prepaid.ValidationError)
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "before", invalid.Faults[0].Field)
	}
	_, err := s.Archive(t.Context(), time.Now().Add(-37*day-time.Minute))
	require.NoError(t, err)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Archive(over, time.Now().Add(-40*day))
	require.ErrorIs(t, err, context.Canceled)
}

// Many rows are moved in small transactions, also by two processes at once, without those that remain.
func TestArchiveManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	old := prepaid.DateOf(time.Now().UTC().Add(-45 * day))
	s.exec(`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, state, changed)
		select case when i % 3 = 0 then 'own-' || i else to_char($1::date, 'YYYYMMDD') || '-7064-8000-8000-' || lpad(i::text, 12, '0') end,
			'Accounts.Transfer', 'float', 1, '', '', 'done', now() - interval '45 days'
		from generate_series(1, 3000) i`, old.String())
	var wg sync.WaitGroup
	var moved [2]int
	for i := range moved {
		wg.Go(func() {
			n, err := s.Archive(t.Context(), time.Now().Add(-40*day))
			if err != nil {
				t.Error(err)
			}
			moved[i] = n
		})
	}
	wg.Wait()
	again, err := s.Archive(t.Context(), time.Now().Add(-40*day)) // the payments that the other had locked
	require.NoError(t, err)
	require.Equal(t, 2000, moved[0]+moved[1]+again)
	require.Equal(t, "1000", text(t, s.pool, "select count(*)::text from prepaid.payments"))
	require.Equal(t, "2000", text(t, s.pool, "select count(distinct request_id)::text from prepaid.archive"))
}

// An upgrade by logical replication: retention works under its publication, and no history mixes two payments, whether the sequence
// was set or not.
func TestUpgradeByLogicalReplication(t *testing.T) {
	t.Parallel()
	_, from := ownServer(t, map[string]string{"wal_level": "logical"})
	_, to := ownServer(t, nil)
	s := openStore(t, from)
	s.exec("create publication upgrade for all tables")
	s.exec(guideQuery(t, "alter table"))
	gone, kept := s.aged(journal.StateDone, 40, ""), s.add(2)
	moved, err := s.Archive(t.Context(), time.Now().Add(-38*day))
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	s.exec(`with gone as (delete from prepaid.archive where changed < now() - interval '39 days' returning number)
		delete from prepaid.history where payment in (select number from gone)`)
	_, err = s.Get(t.Context(), gone)
	require.ErrorIs(t, err, journal.ErrNoPayment)

	target := openStore(t, to)
	target.exec("truncate prepaid.versions")
	target.exec("create subscription upgrade connection '" + from.Config().ConnString() + "' publication upgrade")
	require.Eventually(t, func() bool {
		return text(t, to, "select concat((select count(*) from prepaid.payments), ' ', (select count(*) from prepaid.history), ' ', (select count(*) from prepaid.versions))") == "2 2 3"
	}, time.Minute, 10*time.Millisecond)
	target.exec("drop subscription upgrade")
	recovered, err := target.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, recovered)
	events := func(id prepaid.RequestID) (n int) {
		rows, err := to.Query(t.Context(), guideQuery(t, "select h.at"), id)
		require.NoError(t, err)
		for rows.Next() {
			n++
		}
		require.NoError(t, rows.Err())
		return n
	}
	target.enqueue(transfer("a"), transfer("b")) // b gets the number of kept[0]
	require.Equal(t, []int{2, 0, 0}, []int{events(kept[1]), events(kept[0]), events(transfer("b").RequestID)})
	target.exec(guideQuery(t, "select setval"))
	target.enqueue(transfer("c"))
	require.Equal(t, 1, events(transfer("c").RequestID))
}
