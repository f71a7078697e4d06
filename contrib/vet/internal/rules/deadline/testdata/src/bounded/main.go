package main // want package:"has a middleware for deadlines"

import (
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"bounded/payouts"
)

func routes(client *prepaid.Client) http.Handler { // want routes:"gives requests a deadline"
	router := chi.NewRouter()
	router.Use(middleware.Timeout(time.Minute))
	router.Post("/pay", payouts.Handler(client))
	router.Post("/refund", func(w http.ResponseWriter, r *http.Request) {
		_, err := client.Funding.Refund(r.Context(), prepaid.RefundFundingParams{})
		_ = err
	})
	return router
}

func main() { _ = http.ListenAndServe("", routes(nil)) } // want main:"gives requests a deadline"
