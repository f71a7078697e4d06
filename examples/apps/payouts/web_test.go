package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
)

// desk is the web application on a database of its own, with one payee.
type desk struct {
	*web

	t *testing.T
}

func newDesk(t *testing.T, server *pgtest.Server) *desk {
	t.Helper()
	pool := server.NewPool(t)
	require.NoError(t, migrate(t.Context(), pool))
	_, err := pool.Exec(t.Context(), "insert into payees values ('payee')")
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	store, err := settings{key: prepaid.NewSecret(strings.Repeat("5a", 32)), call: time.Second, log: log}.openStore(t.Context(), pool)
	require.NoError(t, err)
	return &desk{web: &web{pool: pool, store: store, float: "float", log: log}, t: t}
}

const posted = `{"id":"7","account_id":"payee","amount":"12.50","reference":"INVOICE 7 OF J CITIZEN"}`

func (d *desk) post(body string) *httptest.ResponseRecorder {
	d.t.Helper()
	response := httptest.NewRecorder()
	d.ServeHTTP(response, httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/orders", strings.NewReader(body)))
	return response
}

// payments are the payments in the store.
func (d *desk) payments() (all []journal.Entry) {
	d.t.Helper()
	for e, err := range d.store.All(d.t.Context()) {
		require.NoError(d.t, err)
		all = append(all, e)
	}
	return all
}

func (d *desk) count(query string) (n int) {
	d.t.Helper()
	require.NoError(d.t, d.pool.QueryRow(d.t.Context(), query).Scan(&n))
	return n
}

func TestOrders(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})

	t.Run("posted again", func(t *testing.T) {
		d := newDesk(t, server)
		for range 2 {
			response := d.post(posted)
			require.Equal(t, http.StatusAccepted, response.Code, response.Body)
			require.Equal(t, `{"id":"7","state":"ordered"}`+"\n", response.Body.String())
		}
		require.Len(t, d.payments(), 1)
		require.Equal(t, prepaid.MustAmount("12.50"), d.payments()[0].Amount)
		_, err := d.pool.Exec(t.Context(), "update orders set state = 'done'")
		require.NoError(t, err)
		require.Equal(t, `{"id":"7","state":"done"}`+"\n", d.post(posted).Body.String())
	})

	t.Run("on another day", func(t *testing.T) {
		d := newDesk(t, server)
		yesterday := prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC().AddDate(0, 0, -1)), "payouts", "7")
		_, err := d.pool.Exec(t.Context(), insertOrder, "7", "payee", "12.50", yesterday)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, d.post(posted).Code)
		require.Equal(t, yesterday, d.payments()[0].RequestID)
	})

	t.Run("weeks later", func(t *testing.T) {
		d := newDesk(t, server)
		old := prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC().AddDate(0, 0, -30)), "payouts", "7")
		_, err := d.pool.Exec(t.Context(), insertOrder, "7", "payee", "12.50", old)
		require.NoError(t, err)
		require.Equal(t, http.StatusGone, d.post(posted).Code)
	})

	t.Run("many at once", func(t *testing.T) {
		d := newDesk(t, server)
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() { require.Equal(t, http.StatusAccepted, d.post(posted).Code) })
		}
		all.Wait()
		require.Len(t, d.payments(), 1)
		require.Equal(t, 1, d.count("select count(*) from orders"))
	})

	t.Run("changed", func(t *testing.T) {
		d := newDesk(t, server)
		require.Equal(t, http.StatusAccepted, d.post(posted).Code)
		for _, change := range []string{"12.51", "J SMITH"} {
			response := d.post(strings.NewReplacer("12.50", change, "J CITIZEN", change).Replace(posted))
			require.Contains(t, []int{http.StatusConflict, http.StatusBadRequest}, response.Code, response.Body)
		}
		require.Equal(t, http.StatusConflict, d.post(strings.Replace(posted, "12.50", "12.51", 1)).Code)
		require.Equal(t, http.StatusConflict, d.post(strings.Replace(posted, "CITIZEN", "SMITH", 1)).Code)
		require.Len(t, d.payments(), 1)
		require.Equal(t, 1, d.count("select count(*) from orders where amount = 12.50"))
	})

	t.Run("rolled back", func(t *testing.T) {
		d := newDesk(t, server)
		response := d.post(strings.Replace(posted, "payee", "stranger", 1))
		require.Equal(t, http.StatusUnprocessableEntity, response.Code, response.Body)
		require.Empty(t, d.payments())
		require.Equal(t, 0, d.count("select count(*) from orders"))
	})

	t.Run("refused", func(t *testing.T) {
		d := newDesk(t, server)
		for name, body := range map[string]string{
			"no JSON":          "{",
			"no id":            strings.Replace(posted, `"7"`, `""`, 1),
			"long id":          strings.Replace(posted, `"7"`, `"`+strings.Repeat("7", 61)+`"`, 1),
			"no account":       strings.Replace(posted, "payee", "", 1),
			"no reference":     strings.Replace(posted, "INVOICE 7 OF J CITIZEN", "", 1),
			"long reference":   strings.Replace(posted, "CITIZEN", strings.Repeat("CITIZEN", 20), 1),
			"no amount":        strings.Replace(posted, "12.50", "0", 1),
			"negative":         strings.Replace(posted, "12.50", "-1", 1),
			"not an amount":    strings.Replace(posted, "12.50", "1e3", 1),
			"an unknown field": strings.Replace(posted, "{", `{"currency":"AUD",`, 1),
			"too much":         posted[:len(posted)-1] + strings.Repeat(" ", 5<<10) + "}",
		} {
			response := d.post(body)
			require.Equal(t, http.StatusBadRequest, response.Code, name)
			require.NotContains(t, response.Body.String(), "CITIZEN", name)
		}
		require.Empty(t, d.payments())
		require.Equal(t, 0, d.count("select count(*) from orders"))
	})
}

// A customer posts an order again if the store lacks it. No personal data is logged.
func TestOrderWithoutPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	d := newDesk(t, server)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))

	require.NoError(t, server.Kill())
	response := d.post(posted)
	require.Equal(t, http.StatusServiceUnavailable, response.Code)
	require.Equal(t, "1", response.Header().Get("Retry-After"))
	require.Contains(t, log.String(), "order=7")
	require.NotContains(t, log.String(), "CITIZEN")
	require.NoError(t, server.Restart(t.Context()))
	require.Eventually(t, func() bool { return d.post(posted).Code == http.StatusAccepted }, time.Minute, 10*time.Millisecond)
	require.Len(t, d.payments(), 1)
}

func TestBooks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, pgtest.Start(t, pgtest.Options{}))
	require.Equal(t, http.StatusAccepted, d.post(posted).Code)
	e := d.payments()[0]
	settle := func(e journal.Entry) error {
		return pgx.BeginFunc(t.Context(), d.pool, func(tx pgx.Tx) error { return settled(context.WithoutCancel(t.Context()), tx, e) })
	}
	postings := "select count(*) from postings where amount = 12.50 and account_id = 'payee' and transaction_id = '99'"

	e.State = journal.StateRejected
	require.NoError(t, settle(e))
	require.Equal(t, 1, d.count("select count(*) from orders where state = 'rejected'"))
	require.Equal(t, 0, d.count("select count(*) from postings"))

	e.State, e.TransactionID = journal.StateDone, "99"
	for range 2 { // as if the commit's response was lost
		require.NoError(t, settle(e))
		require.Equal(t, 1, d.count(postings))
		require.Equal(t, 1, d.count("select count(*) from orders where state = 'done'"))
	}

	e.RequestID = "unknown"
	require.EqualError(t, settle(e), "a payment without an order")
}
