// Firstcall is the first program of the README.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cardprograms/prepaid"
)

func main() {
	config, err := prepaid.ConfigFromEnv() // PREPAID_BASE_URL and others, see below
	if err != nil {
		log.Fatal(err)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	account, err := client.Accounts.Get(context.Background(), "EA10000000000001")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(account.Status, account.Balance)
}
