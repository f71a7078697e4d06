package main

import (
	"log"
	"net/http"

	"github.com/cardprograms/prepaid"

	"planted/bank"
	"planted/bank/ledger"
	"planted/handlers"
	"planted/routers"
	"planted/wrapped"
)

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
	s := &handlers.Server{Client: client, Config: config}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /bad", s.BadPay)
	mux.HandleFunc("POST /good", s.GoodPay)
	mux.Handle("POST /h", s.BadHandler())
	mux.Handle("POST /serve", handlers.BadServe{Client: client})
	mux.Handle("POST /serve2", handlers.GoodServe{Client: client})
	b := &bank.Bank{Ledger: ledger.New(client, "EA1")}
	mux.Handle("POST /w", wrapped.BadDeadline(b))
	mux.Handle("POST /w2", wrapped.GoodDeadline(b))
	mux.Handle("/chi/", routers.Chi(client, config))
	go func() { log.Fatal(routers.Gin(client).Run(":8081")) }()
	mux.HandleFunc("POST /inline", func(w http.ResponseWriter, r *http.Request) {
		_, err := client.Accounts.Transfer(r.Context(), "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID(r.FormValue("id"))}) // want: deadline
		if err != nil {
			http.Error(w, err.Error(), 502)
		}
	})
	log.Fatal(http.ListenAndServe(":8080", mux))
}
