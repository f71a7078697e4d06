// Package lists reads lists.
package lists

import (
	"context"
	"fmt"
	"iter"
	"log"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

var all prepaid.ListTransactionsParams

func dropped(ctx context.Context, client *prepaid.Client, report *prepaid.ReportReader, j *journalfile.Journal) (n int) {
	for transaction := range client.Accounts.Transactions(ctx, "a", all) { // want `the loop has no variable for the error of the list: half a list.*#iterator$`
		fmt.Println(transaction.ID)
	}
	for transaction, _ := range client.Accounts.Transactions(ctx, "a", all) { // want `no variable`
		fmt.Println(transaction.ID)
	}
	for range report.Rows() { // want `no variable`
		n++
	}
	for entry := range j.Resume(ctx, nil, 1) { // want `no variable`
		fmt.Println(entry.RequestID)
	}
	accounts := client.Accounts.Search(ctx, prepaid.SearchAccountsParams{})
	for account := range accounts { // want `no variable`
		fmt.Println(account.ID)
	}
	for account := range open(ctx, client) { // want `no variable`
		fmt.Println(account.ID)
	}
	return n
}

func forgotten(ctx context.Context, client *prepaid.Client) (n int) {
	for transaction, err := range client.Accounts.Transactions(ctx, "a", all) { // want `the error of the list ends the loop and is forgotten`
		if err != nil {
			break
		}
		fmt.Println(transaction.ID)
	}
	for hook, err := range client.Hooks.List(ctx, prepaid.Paging{}) { // want `forgotten`
		if err != nil {
			continue
		}
		fmt.Println(hook.ID)
	}
	for hook, err := range client.Hooks.List(ctx, prepaid.Paging{}) { // want `forgotten`
		_ = err
		fmt.Println(hook.ID)
	}
	for hook, err := range client.Hooks.List(ctx, prepaid.Paging{}) { // want `forgotten`
		if err == nil {
			fmt.Println(hook.ID)
		}
	}
	go func() {
		for hook, err := range client.Hooks.List(ctx, prepaid.Paging{}) { // want `forgotten`
			if err != nil {
				return
			}
			fmt.Println(hook.ID)
		}
	}()
	accounts, _ := prepaid.Collect(client.Accounts.Search(ctx, prepaid.SearchAccountsParams{}), 10) // want `the error of the list is dropped`
	return n + len(accounts)
}

// A wrapper is seen by what it lists.
func open(ctx context.Context, client *prepaid.Client) iter.Seq2[*prepaid.Account, error] {
	return func(yield func(*prepaid.Account, error) bool) {
		for account, err := range client.Accounts.Search(ctx, prepaid.SearchAccountsParams{}) {
			if !yield(account, err) {
				return
			}
		}
	}
}

func looked(ctx context.Context, client *prepaid.Client, store *postgres.Store, j *journalfile.Journal) (last error) {
	for transaction, err := range client.Accounts.Transactions(ctx, "a", all) {
		if err != nil {
			return err
		}
		fmt.Println(transaction.ID)
	}
	for hook, err := range client.Hooks.List(ctx, prepaid.Paging{}) {
		if err != nil {
			log.Print(err)
			break
		}
		fmt.Println(hook.ID)
	}
	for entry, err := range j.Resume(ctx, nil, 1) {
		switch {
		case err == nil:
			fmt.Println(entry.RequestID)
		default:
			fmt.Println("again", entry.RequestID)
		}
	}
	var err error
	var entry journal.Entry
	for entry, err = range store.All(ctx) {
		if err != nil {
			break
		}
		fmt.Println(entry.RequestID)
	}
	if err != nil {
		return err
	}
	for transaction, err := range client.Accounts.Transactions(ctx, "a", all) {
		if err != nil {
			return fmt.Errorf("history of %s ends early", transaction.ID)
		}
	}
	for transaction, err := range client.Accounts.Transactions(ctx, "a", all) {
		if err == nil {
			fmt.Println(transaction.ID)
			continue
		}
		log.Print(err)
	}
	for transaction, err := range client.Accounts.Transactions(ctx, "a", all) {
		if err == nil {
			last = err
		}
		fmt.Println(transaction.ID)
	}
	for entry := range j.All() { // without errors
		fmt.Println(entry.RequestID)
	}
	for name := range names() { // not of the SDK
		fmt.Println(name)
	}
	for transaction := range client.Accounts.Transactions(ctx, "a", all) { //prepaidvet:ignore iterator only the first one is wanted
		fmt.Println(transaction.ID)
		break
	}
	accounts, err := prepaid.Collect(client.Accounts.Search(ctx, prepaid.SearchAccountsParams{}), 10)
	fmt.Println(len(accounts))
	return err
}

func names() iter.Seq2[string, error] { return nil }
