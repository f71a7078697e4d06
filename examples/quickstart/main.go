// Quickstart issues two cards, loads each, pays from one to the other, and reads a history. It uses the service's test environment
// if PREPAID_BASE_URL is set, otherwise an emulator inside this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
)

func main() {
	day := prepaid.DateOf(time.Now())
	flag.TextVar(&day, "day", day, "`day` of the payments, each of which is made once a day; to run again, pass the same day")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, day)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, day prepaid.Date) (err error) {
	p, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if _, err = p.client.Check(ctx); err != nil { // address, TLS, credentials, whitelist, media type, clock
		return err
	}
	var cards []prepaid.AccountID
	fmt.Print("1. Issue two cards; a second run finds the same cards\n")
	for _, key := range []string{"emp-1", "emp-2"} {
		id, err := p.issue(ctx, key)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		fmt.Printf("   %s is %s\n", key, id)
		cards = append(cards, id)
	}
	fmt.Printf("\n2. Load the cards, and pay from one to the other, once on %s\n", day)
	for _, one := range p.payments(day, cards[0], cards[1]) {
		if err := p.pay(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.params.SourceReference, err)
		}
	}
	fmt.Print("\n3. Read the history of emp-1\n")
	for t, err := range p.client.Accounts.Transactions(ctx, cards[0], prepaid.ListTransactionsParams{}) {
		if err != nil {
			return err // discard the items so far: the history is not complete
		}
		fmt.Printf("   %-22s  %8s  balance %8s\n", t.TypeDescription, t.Amount, t.RunningBalance)
	}
	return nil
}

// issue returns the active account with a key. It creates the account only if there is none.
func (p *program) issue(ctx context.Context, key string) (prepaid.AccountID, error) {
	holder := &prepaid.Cardholder{
		FirstName: "Ada", LastName: "Example", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
		EmailAddress: "ada@example.com", MobileNumber: "+61400000001", PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
	}
	var account *prepaid.Account
	issued, err := p.client.Accounts.Issue(ctx, prepaid.IssueParams{
		ProgramClientID: p.clientID, Again: p.again,
		Account: prepaid.CreateAccountParams{CompanyID: p.company, ClientAccountKey: key, Cardholder: holder},
	})
	switch {
	case err == nil:
		account = issued.Account
	case prepaid.OutcomeOf(err) == prepaid.OutcomeApplied: // the account exists: never create it again
		account, err = p.client.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{ProgramClientID: p.clientID, ClientAccountKey: key})
	}
	if err != nil {
		return "", err
	}
	if account.Status == prepaid.AccountStatusPreActive {
		err = p.client.Accounts.SetStatus(ctx, account.ID, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive})
	}
	return account.ID, err
}

// payment is a payment from an account.
type payment struct {
	from   prepaid.AccountID
	params prepaid.TransferParams
}

// payments returns the payments of a day. The same day has the same request IDs.
func (p *program) payments(day prepaid.Date, first, second prepaid.AccountID) []payment {
	params := func(kind prepaid.TransferType, amount, reference string, to prepaid.AccountID) prepaid.TransferParams {
		return prepaid.TransferParams{
			RequestID: prepaid.DeriveRequestID(day, "quickstart", reference, string(to)), Type: kind, Amount: prepaid.MustAmount(amount),
			DestinationAccountID: to, SourceReference: reference, DestinationReference: reference,
		}
	}
	return []payment{
		{p.float, params(prepaid.TransferTypeLoad, "250.00", "load of emp-1", first)},
		{p.float, params(prepaid.TransferTypeLoad, "120.50", "load of emp-2", second)},
		{first, params(prepaid.TransferTypeCardToCard, "30.00", "emp-1 to emp-2", second)},
	}
}

// pay makes a payment once: the journal stores the request ID before it sends. Ctrl+C ends no payment in progress.
func (p *program) pay(ctx context.Context, one payment) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	result, err := p.journal.Transfer(ctx, p.client.Accounts, one.from, one.params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
	case prepaid.OutcomeRejected:
		return fmt.Errorf("refused, no money moved: %w", err)
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
		return fmt.Errorf("run the program again with the same -day: %w", err)
	}
	if err == nil {
		fmt.Printf("   %-14s  %8s  transaction %s\n", one.params.SourceReference, one.params.Amount, result.TransactionID)
	}
	return err
}
