package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cardprograms/prepaid"
)

func main() {
	config, err := prepaid.ConfigFromEnv() // PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_CLIENT_ID, …
	if err != nil {
		log.Fatal(err)
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	accounts := client.Accounts.SearchCompany(context.Background(), 42, prepaid.SearchCompanyParams{})
	for account, err := range accounts {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(account.ID, account.Status, account.Balance)
	}
}
