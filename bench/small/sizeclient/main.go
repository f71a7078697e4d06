// Program sizeclient does the work of program sizeplain with the client: the two programs differ by the client's size.
package main

import (
	"context"
	"os"

	"github.com/cardprograms/prepaid"
)

func main() {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		os.Exit(1)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		os.Exit(1)
	}
	account, err := client.Accounts.Get(context.Background(), prepaid.AccountID(os.Args[1]))
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(account.ExternalAccountID)
}
