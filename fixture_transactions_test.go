package prepaid

import (
	"context"
	"strconv"
	"time"
)

func transactionFixtures() []fixtureCase {
	page := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *Client) (*Page[Transaction], error) {
		return fixturePage(client.Accounts.TransactionsPage(ctx, fixtureID, ListTransactionsParams{
			From: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.FixedZone("", 11*60*60)),
			To:   fixtureTime(2026, time.November, 30, 12, 59, 59), Paging: Paging{Page: 2, Size: 2},
		}))
	})
	open := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *Client) (*Page[Transaction], error) {
		return fixturePage(client.Accounts.TransactionsPage(ctx, fixtureID, ListTransactionsParams{}))
	})
	all := fixtureOf("Accounts.Transactions", func(ctx context.Context, client *Client) ([]*Transaction, error) {
		return Collect(client.Accounts.Transactions(ctx, fixtureID, ListTransactionsParams{
			From: fixtureTime(2026, time.October, 31, 13, 0, 0), Before: fixtureTime(2026, time.November, 30, 13, 0, 0),
		}), 20)
	})
	var each []*Transaction
	for i, kind := range []TransactionType{
		TransactionTypeClearing, TransactionTypePOSCredit, TransactionTypeClearingCreditBack,
		TransactionTypePurchaseAuthorisation, TransactionTypePurchaseAuthorisationReversal, TransactionTypeClearingReversal,
		TransactionTypeATMCashAuthorisation, TransactionTypeLoad, "9999",
	} {
		each = append(each, fixtureTransaction(func(t *Transaction) {
			t.ID, t.ParentID, t.Type = TransactionID(strconv.FormatInt(8800002000+int64(i), 10)), "", kind
		}))
	}
	return append(page.usual(exampleInvalidToken, OutcomeNotProcessed),
		page.gives("200", &Page[Transaction]{
			Items: []Transaction{
				*fixtureTransaction(func(*Transaction) {}),
				*fixtureTransaction(func(t *Transaction) {
					t.ID, t.ParentID, t.Type, t.TypeDescription = "8800001003", "", TransactionTypeLoad, "Load"
					t.Amount, t.RunningBalance = MustAmount("100.00"), MustAmount("224.45")
					t.OccurredAt = fixtureTime(2026, time.November, 21, 1, 2, 3)
				}),
			},
			Number: 2, Size: 2, TotalPages: 2, TotalItems: 4,
		}),
		all.gives("200-every-type", each),
		open.gives("204", &Page[Transaction]{Number: 1, Size: 50}),
		page.unknownAccount(),
		page.throttled(),
	)
}

func fixtureTransaction(edit func(*Transaction)) *Transaction {
	t := &Transaction{
		ID: "8800001002", ParentID: "8800001001", AccountID: fixtureID,
		Type: TransactionTypePurchaseAuthorisation, TypeDescription: "Purchase authorisation",
		Amount: MustAmount("-25.50"), AmountCurrency: "AUD",
		FeeAmount: MustAmount("0.30"), FeeAmountCurrency: "AUD",
		RunningBalance: MustAmount("124.45"), RunningBalanceCurrency: "AUD",
		OccurredAt:     fixtureTime(2026, time.November, 20, 1, 2, 3),
		CardAcceptorID: "000000003210987", TerminalID: "T0000042", AcquirerID: "560001",
		MerchantCategoryCode: "0742", Reference: "INV 1001",
	}
	edit(t)
	return t
}
