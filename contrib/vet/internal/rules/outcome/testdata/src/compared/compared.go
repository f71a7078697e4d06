// Package compared looks only whether there is an error.
package compared

import (
	"context"
	"errors"
	"log"
	"net/http"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

var errFailed = errors.New("payment failed")

func hidden(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	_, err := client.Accounts.Transfer(ctx, "a", params) // want `the error of Accounts.Transfer is only compared with nil: the money may have moved`
	if err != nil {
		log.Print("transfer failed")
		return errFailed
	}
	return nil
}

func handler(client *prepaid.Client, params prepaid.TransferParams) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := client.Accounts.Transfer(r.Context(), "a", params); err != nil { // want `only compared`
			http.Error(w, "failed", http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func flag(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (paid bool) {
	_, err := client.Accounts.Transfer(ctx, "a", params) // want `only compared`
	return err == nil
}

func branches(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams, quiet bool) error {
	_, err := client.Accounts.Transfer(ctx, "a", params) // want `the error of Accounts.Transfer is forgotten on some path`
	if err != nil {
		if quiet {
			return errFailed
		}
		return err
	}
	return nil
}

// The caller gets the error of the last payment only.
func last(ctx context.Context, client *prepaid.Client, all []prepaid.TransferParams) error {
	var err error
	for _, params := range all {
		_, err = client.Accounts.Transfer(ctx, "a", params) // want `forgotten`
	}
	return err
}

func first(ctx context.Context, client *prepaid.Client, all map[string]prepaid.TransferParams) (failed error) {
	for _, params := range all {
		_, err := client.Accounts.Transfer(ctx, "a", params) // want `forgotten`
		if err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func channel(ctx context.Context, client *prepaid.Client, orders <-chan prepaid.TransferParams) error {
	var err error
	for params := range orders {
		_, err = client.Accounts.Transfer(ctx, "a", params) // want `forgotten`
	}
	return err
}

func create(ctx context.Context, client *prepaid.Client, params prepaid.CreateAccountParams) bool {
	_, err := client.Accounts.Create(ctx, params) // want `only compared with nil: the account may exist`
	return err == nil
}

func withdrawn(j *journalfile.Journal, id prepaid.RequestID) bool {
	return j.Withdraw(id) == nil // nothing was sent: there is no more to know
}

func captured(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) bool {
	var err error
	func() {
		_, err = client.Accounts.Transfer(ctx, "a", params) // want `only compared`
	}()
	return err == nil
}
