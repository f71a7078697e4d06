package prepaidpg

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/webhook"
)

// useEverything pays n payments, and calls every method.
func useEverything(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	s := openStore(t, pool)
	s.exec("create table books (request_id text primary key)")
	ids := s.add(n)
	sender := &teller{}
	require.NoError(t, s.runUntil(sender, Workers{
		N: 10, Claim: 7, Settled: writeTestBooks,
		Trace: journal.Trace{Failed: func(err error) { t.Errorf("the database failed: %v", err) }},
	}, func() bool { return t.Failed() || s.are(journal.StateDone, ids...)() }))
	require.Len(t, sender.sent, n)
	var booked int
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from books").Scan(&booked))
	require.Equal(t, n, booked)

	now := time.Now()
	lost, known := transfer("lost"), transfer("0")
	lost.LastSent = now
	list := each(journal.Payment{Account: "EA1", Params: lost}, journal.Payment{Account: "EA1", Params: known})
	for _, want := range []int{1, 0} {
		require.NoError(t, s.in(func(tx pgx.Tx) error {
			added, err := s.EnqueueBatch(t.Context(), tx, list)
			require.NoError(t, err)
			require.Equal(t, want, added)
			return nil
		}))
	}
	require.WithinDuration(t, now, s.entry(lost.RequestID).LastSent, time.Minute)
	require.WithinDuration(t, now, s.claims(sender, 1)[0].Now, time.Minute)
	recovered, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, recovered)
	resting, err := s.Resting(t.Context(), time.Time{})
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(3*s.options.CallTimeout/2), resting.Due, time.Minute)
	s.exec("update prepaid.payments set sends_until = null")
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		return cmp.Or(s.Resolve(t.Context(), tx, lost.RequestID, journal.NotMoved()), s.Retry(t.Context(), tx, lost.RequestID),
			s.Withdraw(t.Context(), tx, lost.RequestID))
	}))
	s.exec("update prepaid.payments set changed = now() - interval '99 days'")
	moved, err := s.Archive(t.Context(), time.Now().Add(-archiveAge-time.Hour))
	require.NoError(t, err)
	require.Zero(t, moved)
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, n, stats.Done.Count)
	require.Equal(t, journal.StateWithdrawn, s.entry(lost.RequestID).State)
	for e, err := range s.All(t.Context()) {
		require.NoError(t, err)
		require.WithinDuration(t, now.AddDate(0, 0, -99), e.Changed, 2*time.Hour)
	}
	for _, err := range s.Waiting(t.Context()) {
		require.NoError(t, err)
	}

	claims, err := NewClaims(pool, "", webhook.ClaimOptions{Timeout: time.Minute})
	require.NoError(t, err)
	claim, err := claims.Claim(t.Context(), "m", time.Minute)
	require.NoError(t, err)
	require.NoError(t, claim.Done(t.Context()))
	require.NoError(t, s.in(func(tx pgx.Tx) error { return claims.DoneTx(t.Context(), tx, "n") }))
	_, err = newLimit(pool, defaultSchema, "limit").Exchange(t.Context(), fleet.Report{ID: "a", Seq: 1})
	require.NoError(t, err)
}

// Settings of the session change no result, whether pgx receives it as text or not. See also TestRunBehindAPooler.
func TestSettingsAndModes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ mode, style string }{
		{"exec", "ISO"}, {"exec", "SQL, DMY"}, {"exec", "German"}, {"exec", "Postgres, MDY"},
		{"simple_protocol", "ISO"}, {"simple_protocol", "SQL, DMY"}, {"simple_protocol", "German"}, {"simple_protocol", "Postgres, MDY"},
		{"cache_statement", "German"}, {"cache_describe", "German"}, {"describe_exec", "German"}, {"cache_statement&pool_max_conns=1", "German"},
	} {
		t.Run(test.mode+" "+test.style, func(t *testing.T) {
			t.Parallel()
			direct := newPool(t)
			for name, value := range map[string]string{
				"DateStyle": test.style, "bytea_output": "escape", "IntervalStyle": "sql_standard", "TimeZone": "<odd>-05:53", "extra_float_digits": "-15",
				"default_transaction_isolation": "serializable", "synchronous_commit": "off",
			} {
				_, err := direct.Exec(t.Context(), "alter database "+direct.Config().ConnConfig.Database+" set "+name+" = '"+value+"'")
				require.NoError(t, err)
			}
			useEverything(t, poolAt(t, direct.Config().ConnString()+"&default_query_exec_mode="+test.mode), 10)
		})
	}
}

// foreignSender is a sender whose responses have a text that no database can store unchanged.
type foreignSender struct{ *teller }

func (f foreignSender) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	result, err := f.teller.Transfer(ctx, source, params)
	if result != nil {
		result.CorrelationID = "a\x00b€\u2028\xff"
	}
	return result, err
}

// In a database of any encoding, an outcome is recorded whatever the text of the response, and a payment that cannot be read is not claimed.
func TestEncodings(t *testing.T) {
	t.Parallel()
	latin1 := strings.Replace(emptyPool(t).Config().ConnString(), "/test_", "/latin1_", 1)
	config, err := pgx.ParseConfig(latin1)
	require.NoError(t, err)
	admin := poolAt(t, shared.URL())
	_, err = admin.Exec(t.Context(), "create database "+config.Database+" encoding 'LATIN1' locale 'C' template template0")
	require.NoError(t, err)
	for name, address := range map[string]string{
		"UTF8": newPool(t).Config().ConnString(), "LATIN1": latin1, "LATIN1, client in UTF8": latin1 + "&client_encoding=UTF8",
	} {
		pool := poolAt(t, address)
		require.NoError(t, Migrate(t.Context(), pool, ""), name)
		s := openStore(t, pool)
		s.exec("delete from prepaid.payments")
		id := s.add(1)[0]
		require.NoError(t, s.runUntil(foreignSender{&teller{}}, Workers{}, s.are(journal.StateDone, id)), name)
		require.Equal(t, "a?b???", s.entry(id).CorrelationID, name)
	}
	params := transfer("x")
	params.RequestID = "é"
	openStore(t, poolAt(t, latin1+"&client_encoding=UTF8")).enqueue(params)
	s := openStore(t, poolAt(t, latin1))
	_, err = s.Claim(t.Context(), journal.Claim{N: 1})
	require.ErrorContains(t, err, "client_encoding")
	require.Equal(t, "queued 0", text(t, s.pool, "select state || ' ' || lease from prepaid.payments where state <> 'done'"))
}

// A claim that cannot be read claims nothing, and holds no locks for long if its worker is frozen or gone.
func TestUnreadableClaim(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec(`create table seen (value text); create function see() returns trigger language plpgsql as $$begin
		insert into seen values (current_setting('idle_in_transaction_session_timeout')); return null; end$$;
		create trigger see after insert on prepaid.history for each statement execute function see()`)
	ids := s.add(10)
	s.exec("delete from seen")
	s.exec("update prepaid.payments set amount = 'NaN' where request_id = $1", string(ids[7]))
	_, err := s.Claim(t.Context(), journal.Claim{N: 20, Sends: time.Minute})
	require.ErrorIs(t, err, prepaid.ErrSyntax)
	require.ErrorContains(t, err, string(ids[7]))
	require.Equal(t, "10", text(t, s.pool, "select count(*)::text from prepaid.payments where state = 'queued' and due <= now() and lease = 0"))
	require.Equal(t, "0", text(t, s.pool, "select count(*)::text from prepaid.history where event = 'begin'"))
	s.exec("update prepaid.payments set amount = 10 where amount = 'NaN'")
	require.NoError(t, s.runUntil(&teller{}, Workers{}, s.are(journal.StateDone, ids...)))
	require.Equal(t, "30s", text(t, s.pool, "select distinct value from seen"))
}
