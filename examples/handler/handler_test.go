package main

import (
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

// Each test has a shop with order 7, on an emulator with the pauses of production.
func TestHandler(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(t *testing.T, s *shop, srv *prepaidtest.Server){
		"paid": func(t *testing.T, s *shop, srv *prepaidtest.Server) {
			requires(t, s, "GET", 404, "")
			requires(t, s, "POST", 200, journal.StateDone)
			requires(t, s, "POST", 200, journal.StateDone)
			require.Equal(t, 1, srv.Movements("order-7"))
		},
		"response lost": func(t *testing.T, s *shop, srv *prepaidtest.Server) {
			srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
			for range 3 { // the user is impatient
				requires(t, s, "POST", 202, journal.StateUnknown)
			}
			e, _ := s.payments.Get("order-7")
			require.Equal(t, 1, e.Attempts)
			require.WithinDuration(t, time.Now(), e.LastSent, time.Second)
			work(t, s, 41*time.Second)
			requires(t, s, "GET", 200, journal.StateDone)
			require.Equal(t, 1, srv.Movements("order-7"))
		},
		"not processed": func(t *testing.T, s *shop, srv *prepaidtest.Server) {
			srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(429, ""))
			requires(t, s, "POST", 202, journal.StateNotSent)
			work(t, s, time.Minute)
			requires(t, s, "GET", 200, journal.StateDone)
			require.Equal(t, 1, srv.Movements("order-7"))
		},
		"rejected, and changed": func(t *testing.T, s *shop, srv *prepaidtest.Server) {
			order := s.orders["7"]
			srv.SetStatus(order.DestinationAccountID, string(prepaid.AccountStatusClosed))
			requires(t, s, "POST", 422, journal.StateRejected)
			work(t, s, time.Minute)
			requires(t, s, "GET", 422, journal.StateRejected)
			order.Amount = prepaid.MustAmount("25.51")
			s.orders["7"] = order
			requires(t, s, "POST", 409, journal.StateRejected)
		},
		"not recorded": func(t *testing.T, s *shop, srv *prepaidtest.Server) {
			require.NoError(t, s.payments.Close())
			requires(t, s, "POST", 503, "")
			require.Empty(t, srv.Requests())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
				from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
				s, err := open(srv.Client(), filepath.Join(t.TempDir(), "payments"), from, map[string]prepaid.TransferParams{"7": {
					RequestID: "order-7", Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to, SourceReference: "7", DestinationReference: "7",
				}})
				require.NoError(t, err)
				test(t, s, srv)
				_ = s.payments.Close()
			})
		})
	}
	require.Equal(t, http.StatusConflict, status(journal.Entry{State: journal.StateUnknown, Review: journal.ReviewTooOld}))
}

// requires fails unless a request is responded to in time, with the state of the payment.
func requires(t *testing.T, s *shop, method string, code int, state journal.State) {
	t.Helper()
	began, response, request := time.Now(), httptest.NewRecorder(), httptest.NewRequest(method, "/", http.NoBody)
	request.SetPathValue("id", "7")
	s.ServeHTTP(response, request)
	require.Equal(t, code, response.Code)
	require.Equal(t, string(state)+"\n", response.Body.String())
	require.LessOrEqual(t, time.Since(began), 2*time.Second)
}

func work(t *testing.T, s *shop, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	require.NoError(t, s.worker.Run(ctx, s.payments, s.client.Accounts))
}
