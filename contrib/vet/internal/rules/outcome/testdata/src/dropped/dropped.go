// Package dropped drops errors in the forms that people write.
package dropped

import (
	"context"
	"sync"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

type sender interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
}

type payer interface {
	PayOut(context.Context, prepaid.DirectEntryOutParams) error
}

type embedded struct{ *prepaid.Client }

type service[T sender] struct{ sender T }

var direct prepaid.DirectEntryOutParams

func ways(ctx context.Context, client *prepaid.Client, s sender, p payer, params prepaid.TransferParams) {
	client.Accounts.Transfer(ctx, "a", params)        // want `the error of Accounts.Transfer is dropped: .*: https://.*/README.md#outcome$`
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	go client.Accounts.Transfer(ctx, "a", params)     // want `dropped`
	defer s.Transfer(ctx, "a", params)                // want `the error of sender.Transfer is dropped`
	p.PayOut(ctx, direct)                             // want `the error of payer.PayOut is dropped`

	pay := client.Accounts.Transfer
	pay(ctx, "a", params)                                                        // want `dropped`
	(*prepaid.AccountsService).DirectEntryOut(client.Accounts, ctx, "a", direct) // want `dropped`

	result, _ := embedded{client}.Accounts.Transfer(ctx, "a", params) // want `dropped`
	if result != nil {
		return
	}

	var group sync.WaitGroup
	group.Go(func() {
		client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{}) // want `the error of Funding.Redeem is dropped`
	})
	group.Wait()

	client.Accounts.Issue(ctx, prepaid.IssueParams{}) // want `Accounts.Issue is dropped: the account may exist`
}

func fields(ctx context.Context, params prepaid.TransferParams, options struct {
	send func(context.Context, prepaid.TransferParams) (*prepaid.TransferResult, error)
}) {
	_, _ = options.send(ctx, params) // want `the error of a function value is dropped`
}

func (s service[T]) drop(ctx context.Context, params prepaid.TransferParams) {
	s.sender.Transfer(ctx, "b", params) // want `dropped`
}

func (s service[T]) pay(ctx context.Context, params prepaid.TransferParams) error {
	_, err := s.sender.Transfer(ctx, "a", params)
	return err
}

func generic(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) {
	service[*prepaid.AccountsService]{client.Accounts}.pay(ctx, params) // want `the error of service.pay is dropped`
	_ = generally(ctx, client.Accounts, params)                         // want `the error of generally is dropped`
}

func generally[S sender](ctx context.Context, s S, params prepaid.TransferParams) error {
	_, err := s.Transfer(ctx, "a", params)
	return err
}

func literal(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) {
	pay := func() error {
		_, err := client.Accounts.Transfer(ctx, "a", params)
		return err
	}
	_ = pay() // want `the error of the function literal is dropped`
}

func books(ctx context.Context, tx postgres.Tx, store *postgres.Store, j *journalfile.Journal, params prepaid.TransferParams, id prepaid.RequestID) {
	_ = store.Enqueue(ctx, tx, "a", params)        // want `Store.Enqueue is dropped: the program goes on as if`
	_ = j.Withdraw(id)                             // want `Journal.Withdraw is dropped: the program goes on as if`
	_, _ = j.Transfer(ctx, nil, "a", params)       // want `Journal.Transfer is dropped: the money may have moved`
	_, _ = journal.Run{}.Send(ctx, nil, direct)    // want `Run.Send is dropped`
	_ = store.Run(ctx, nil, postgres.Workers{})    // the payments are in the store
	_ = client.Accounts.SetStatus(ctx, "a", block) // moves no money
}

var (
	client *prepaid.Client
	block  prepaid.SetStatusParams
)

func overwritten(ctx context.Context, client *prepaid.Client, params, other prepaid.TransferParams) (string, error) {
	_, err := client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	_, err = client.Accounts.Transfer(ctx, "a", other)
	return "", err
}

func suppressed(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) {
	//prepaidvet:ignore outcome the program that gets the message asks
	_, _ = client.Accounts.Transfer(ctx, "a", params)
	_, _ = client.Accounts.Transfer(ctx, "a", params) //prepaidvet:ignore outcome as above

	//prepaidvet:ignore outcome // want `give a reason after //prepaidvet:ignore outcome, without one it suppresses nothing`
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	//prepaidvet:ignore outcome the drill pays a cent
	//prepaidvet:ignore funding and is declined
	_, _ = client.Accounts.Transfer(ctx, "a", params)
	//prepaidvet:ignore funding another rule
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
}

func header(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams, ready bool) error {
	if _, _ = client.Accounts.Transfer(ctx, "a", params); !ready { // want `dropped`
		return context.Canceled
	}
	return nil
}
