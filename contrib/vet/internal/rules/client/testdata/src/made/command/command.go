// Package command is a command line: each process runs one command.
package command

import (
	"context"
	"flag"

	"github.com/cardprograms/prepaid"
)

func Pay(ctx context.Context, to prepaid.AccountID) error { // want Pay:"makes a client for each call"
	from := flag.String("from", "", "")
	flag.Parse()
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	_, err = client.Accounts.Transfer(ctx, prepaid.AccountID(*from), prepaid.TransferParams{DestinationAccountID: to})
	return err
}
