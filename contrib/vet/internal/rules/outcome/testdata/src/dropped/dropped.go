package dropped

import (
	"context"

	"github.com/cardprograms/prepaid"
)

type sender interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
}

func ways(ctx context.Context, client *prepaid.Client, s sender, params prepaid.TransferParams) error {
	client.Accounts.Transfer(ctx, "a", params)        // want `the error of Accounts.Transfer is dropped: .*#outcome$`
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	go client.Accounts.Transfer(ctx, "a", params)     // want `dropped`
	defer s.Transfer(ctx, "a", params)                // want `the error of sender.Transfer is dropped`
	pay := client.Accounts.Transfer
	pay(ctx, "a", params)                                                        // want `dropped`
	(*prepaid.AccountsService).DirectEntryOut(client.Accounts, ctx, "a", direct) // want `dropped`

	//prepaidvet:ignore outcome the journal of the service has it
	_, _ = client.Accounts.Transfer(ctx, "a", params)
	//prepaidvet:ignore outcome // want `give a reason after //prepaidvet:ignore outcome, without one it suppresses nothing`
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`

	_, err := client.Accounts.Transfer(ctx, "a", params)
	return err
}

var direct prepaid.DirectEntryOutParams
