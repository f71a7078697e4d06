package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const transfers = "POST /accounts/{id}/transfer"

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(&out))
	require.Regexp(t, `^POST 202 unknown\nlast sent 2.*\nGET 200 done\nPOST 200 done\nbalance 25\.50\n$`, out.String())
}

// world is a shop with order 7, on an emulator with the pauses of production.
type world struct {
	*shop

	t   *testing.T
	srv *prepaidtest.Server
	to  prepaid.AccountID
}

func newWorld(t *testing.T) world {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.InMemory())
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	s, err := open(srv.Client(), filepath.Join(t.TempDir(), "payments"), from, map[string]prepaid.TransferParams{"7": {
		RequestID: "order-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "order 7", DestinationReference: "order 7",
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.payments.Close() })
	return world{shop: s, t: t, srv: srv, to: to}
}

// requires fails unless a request is responded to in time, and the payment has this state then.
func (w world) requires(method, order string, code int, state journal.State) {
	w.t.Helper()
	began, response, request := time.Now(), httptest.NewRecorder(), httptest.NewRequest(method, "/", nil)
	request.SetPathValue("id", order)
	w.ServeHTTP(response, request)
	require.Equal(w.t, code, response.Code)
	require.Equal(w.t, string(state)+"\n", response.Body.String())
	require.LessOrEqual(w.t, time.Since(began), 2*time.Second)
}

// work runs the worker for a time.
func (w world) work(d time.Duration) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), d)
	defer stop()
	require.NoError(w.t, w.worker.Run(ctx, w.payments, w.client.Accounts))
}

// sent counts the transfers that arrived.
func (w world) sent() (n int) {
	for _, r := range w.srv.Requests() {
		if r.RequestID != "" {
			n++
		}
	}
	return n
}

func TestPaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.requires(http.MethodGet, "7", 404, "")
		w.requires(http.MethodPost, "8", 404, "")
		for range 2 {
			w.requires(http.MethodPost, "7", 200, journal.StateDone)
		}
		require.Equal(t, 1, w.srv.Movements("order-7"))
	})
}

// The money moves and the response is lost. Neither impatient users nor the worker pay again.
func TestResponseLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.srv.Inject(transfers, prepaidtest.CommitThenDrop())
		for range 3 {
			w.requires(http.MethodPost, "7", 202, journal.StateUnknown)
			require.Equal(t, 1, w.sent())
		}
		e, _ := w.payments.Get("order-7")
		require.WithinDuration(t, time.Now(), e.LastSent, time.Second)
		w.work(41 * time.Second)
		w.requires(http.MethodGet, "7", 200, journal.StateDone)
		require.Equal(t, 1, w.srv.Movements("order-7"))
		require.Equal(t, "25.50", w.srv.Balance(w.to))
	})
	require.Equal(t, http.StatusConflict, status(journal.Entry{State: journal.StateUnknown, Review: journal.ReviewTooOld}))
}

// Nothing moved, and the handler has no time for another attempt.
func TestNotProcessed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.srv.Inject(transfers, prepaidtest.Respond(429, "").Always())
		w.requires(http.MethodPost, "7", 202, journal.StateNotSent)
		w.srv.ClearFaults()
		w.work(10 * time.Second)
		w.requires(http.MethodGet, "7", 200, journal.StateDone)
		require.Equal(t, 1, w.srv.Movements("order-7"))
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.srv.SetStatus(w.to, string(prepaid.AccountStatusClosed))
		w.requires(http.MethodPost, "7", 422, journal.StateRejected)
		w.work(time.Minute)
		w.requires(http.MethodGet, "7", 422, journal.StateRejected)

		changed := w.orders["7"]
		changed.Amount = prepaid.MustAmount("25.51")
		w.orders["7"] = changed
		w.requires(http.MethodPost, "7", 409, journal.StateRejected)
		require.Zero(t, w.srv.Movements("order-7"))
	})
}

func TestNotRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, w.payments.Close())
		w.requires(http.MethodPost, "7", 503, "")
		require.Zero(t, w.sent())
	})
}
