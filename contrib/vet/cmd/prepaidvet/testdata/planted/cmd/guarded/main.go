package main

import (
	"context"
	"log"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
)

func limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func main() {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		log.Fatal(err)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /inline", func(w http.ResponseWriter, r *http.Request) {
		_, err := client.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))})
		if err != nil {
			http.Error(w, err.Error(), 502)
		}
	})
	log.Fatal(http.ListenAndServe(":8080", limit(mux)))
}
