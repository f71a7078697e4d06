package contract

import (
	"context"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
)

func transactionFixtures() []Case {
	page := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Transaction], error) {
		return fixturePage(client.Accounts.TransactionsPage(ctx, fixtureID, prepaid.ListTransactionsParams{
			From: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.FixedZone("", 11*60*60)),
			To:   fixtureTime(2026, time.November, 30, 12, 59, 59), Paging: prepaid.Paging{Page: 2, Size: 2},
		}))
	})
	open := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Transaction], error) {
		return fixturePage(client.Accounts.TransactionsPage(ctx, fixtureID, prepaid.ListTransactionsParams{}))
	})
	all := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.Transaction, error) {
		return prepaid.Collect(client.Accounts.Transactions(ctx, fixtureID, prepaid.ListTransactionsParams{
			From: fixtureTime(2026, time.October, 31, 13, 0, 0), Before: fixtureTime(2026, time.November, 30, 13, 0, 0),
		}), 20)
	})
	var each []*prepaid.Transaction
	for i, kind := range []prepaid.TransactionType{
		prepaid.TransactionTypeClearing, prepaid.TransactionTypePOSCredit, prepaid.TransactionTypeClearingCreditBack,
		prepaid.TransactionTypePurchaseAuthorisation, prepaid.TransactionTypePurchaseAuthorisationReversal, prepaid.TransactionTypeClearingReversal,
		prepaid.TransactionTypeATMCashAuthorisation, prepaid.TransactionTypeLoad, "9999",
	} {
		each = append(each, fixtureTransaction(func(t *prepaid.Transaction) {
			t.ID, t.ParentID, t.Type = prepaid.TransactionID(strconv.FormatInt(8800002000+int64(i), 10)), "", kind
		}))
	}
	return append(page.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		page.gives("200", &prepaid.Page[prepaid.Transaction]{
			Items: []prepaid.Transaction{
				*fixtureTransaction(func(*prepaid.Transaction) {}),
				*fixtureTransaction(func(t *prepaid.Transaction) {
					t.ID, t.ParentID, t.Type, t.TypeDescription = "8800001003", "", prepaid.TransactionTypeLoad, "Load"
					t.Amount, t.RunningBalance = prepaid.MustAmount("100.00"), prepaid.MustAmount("224.45")
					t.OccurredAt = fixtureTime(2026, time.November, 21, 1, 2, 3)
				}),
			},
			Number: 2, Size: 2, TotalPages: 2, TotalItems: 4,
		}),
		all.gives("200-every-type", each),
		open.gives("204", &prepaid.Page[prepaid.Transaction]{Number: 1, Size: 50}),
		page.unknownAccount(),
		page.throttled(),
	)
}

func fixtureTransaction(edit func(*prepaid.Transaction)) *prepaid.Transaction {
	t := &prepaid.Transaction{
		ID: "8800001002", ParentID: "8800001001", AccountID: fixtureID,
		Type: prepaid.TransactionTypePurchaseAuthorisation, TypeDescription: "Purchase authorisation",
		Amount: prepaid.MustAmount("-25.50"), AmountCurrency: "AUD",
		FeeAmount: prepaid.MustAmount("0.30"), FeeAmountCurrency: "AUD",
		RunningBalance: prepaid.MustAmount("124.45"), RunningBalanceCurrency: "AUD",
		OccurredAt:     fixtureTime(2026, time.November, 20, 1, 2, 3),
		CardAcceptorID: "000000003210987", TerminalID: "T0000042", AcquirerID: "560001",
		MerchantCategoryCode: "0742", Reference: "INV 1001",
	}
	edit(t)
	return t
}
