package contract

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// amountAboveZero is the row of an amount that must be positive; the least possible one is.
func amountAboveZero[P any](ref string, at func(*P) *prepaid.Amount) []limit[P] {
	const rule = "must be above zero"
	return []limit[P]{
		{ref: ref, field: "amount", rule: rule, bad: put(at, prepaid.Amount{}), good: put(at, prepaid.Cents(1))},
		{ref: ref, field: "amount", rule: rule, shown: "-9.17", bad: put(at, prepaid.MustAmount("-9.17")), good: put(at, prepaid.MustAmount("0.0000000000000000001"))},
	}
}

// amountMeant are the rows of an amount that may be zero, if zero is meant.
func amountMeant[P any](ref string, at func(*P) *prepaid.Amount, zero func(*P) *bool) []limit[P] {
	return []limit[P]{
		{
			ref: ref, field: "amount", rule: "is required; for zero, set ZeroAmount",
			bad: put(at, prepaid.Amount{}), good: func(p *P) { *at(p), *zero(p) = prepaid.Amount{}, true },
		},
		{
			ref: ref, field: "amount", rule: "must be zero when ZeroAmount is set", shown: "9.17",
			bad: func(p *P) { *at(p), *zero(p) = prepaid.MustAmount("9.17"), true }, good: put(at, prepaid.MustAmount("0.0000000000000000001")),
		},
	}
}

// Section 4.4, card-to-card transfer body, with section 8.
func TestValidationTransfer(t *testing.T) {
	t.Parallel()
	type P = prepaid.TransferParams
	rows := []limit[P]{
		needed("4.4", "request_id", func(p *P) *prepaid.RequestID { return &p.RequestID }), // required by this client: it is the key
		atMost("4.4, 8", "request_id", 100, func(p *P) *prepaid.RequestID { return &p.RequestID }),
	}
	rows = append(rows, amountAboveZero("4.4", func(p *P) *prepaid.Amount { return &p.Amount })...)
	rows = append(rows,
		needed("4.4", "source_reference", func(p *P) *string { return &p.SourceReference }),
		atMost("4.4, 8", "source_reference", 75, func(p *P) *string { return &p.SourceReference }),
		needed("4.4", "destination_reference", func(p *P) *string { return &p.DestinationReference }),
		atMost("4.4, 8", "destination_reference", 75, func(p *P) *string { return &p.DestinationReference }),
		needed("4.4", "destination_account_id", func(p *P) *prepaid.AccountID { return &p.DestinationAccountID }),
	)
	requireLimits(t, harness.ValidTransfer, method[prepaid.TransferParams]("Accounts.Transfer", "eaid"), rows...)
	validated(t, harness.ValidTransfer, prepaid.TransferParams.Validate, rows)
	requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.Transfer", "", prepaid.TransferParams{InitiatorUsername: "\xff"})),
		"", fields("id", "request_id", "amount", "source_reference", "destination_reference",
			"destination_account_id", "initiator_username")...)
}

// Section 4.4, direct-entry-out body, with section 8.
func TestValidationDirectEntryOut(t *testing.T) {
	t.Parallel()
	type P = prepaid.DirectEntryOutParams
	const bank = "destination_account_info."
	rows := []limit[P]{
		needed("4.4", "request_id", func(p *P) *prepaid.RequestID { return &p.RequestID }),
		atMost("4.4, 8", "request_id", 100, func(p *P) *prepaid.RequestID { return &p.RequestID }),
	}
	rows = append(rows, amountAboveZero("4.4", func(p *P) *prepaid.Amount { return &p.Amount })...)
	rows = append(rows,
		needed("4.4", "source_reference", func(p *P) *string { return &p.SourceReference }),
		atMost("4.4, 8", "source_reference", 75, func(p *P) *string { return &p.SourceReference }),
		needed("4.4", "destination_reference", func(p *P) *string { return &p.DestinationReference }),
		atMost("4.4, 8", "destination_reference", 75, func(p *P) *string { return &p.DestinationReference }),
		form("4.4", bank+"bsb", "is required", func(p *P) *string { return &p.Destination.BSB }, "", "999999"),
	)
	rows = append(rows, forms("4.4", bank+"bsb", "must be six digits", func(p *P) *string { return &p.Destination.BSB },
		[2]string{"91753", "917531"}, [2]string{"9175310", "000000"}, [2]string{"917-531", "012345"}, [2]string{"91753a", "999999"},
		[2]string{"９１７５３１", "062000"})...)
	rows = append(rows, form("4.4", bank+"account_number", "is required", func(p *P) *string { return &p.Destination.AccountNumber }, "", "0"))
	rows = append(rows, forms("4.4", bank+"account_number", "must be digits", func(p *P) *string { return &p.Destination.AccountNumber },
		[2]string{"917 531", "917531"}, [2]string{"917-53", "0"}, [2]string{"91753x", "12345678901234567890123456789012345678901234567890"},
		[2]string{"-9175", "00000000"})...)
	rows = append(rows,
		needed("4.4", bank+"account_name", func(p *P) *string { return &p.Destination.AccountName }),
		needed("4.4", "bsb", func(p *P) *string { return &p.BSB }),
	)
	requireLimits(t, harness.ValidDirectEntry, method[prepaid.DirectEntryOutParams]("Accounts.DirectEntryOut", "eaid"), rows...)
	validated(t, harness.ValidDirectEntry, prepaid.DirectEntryOutParams.Validate, rows)
	requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.DirectEntryOut", "..", prepaid.DirectEntryOutParams{InitiatingUserID: "\xff"})),
		"", fields("id", "request_id", "amount", "source_reference", "destination_reference", bank+"bsb",
			bank+"account_number", bank+"account_name", "bsb", "initiating_user_id")...)
}

// Zero is legal where it is meant; below zero it would be the opposite movement.
func fundingAmounts[P any](at func(*P) *prepaid.Amount, zero func(*P) *bool) []limit[P] {
	return append(amountMeant("4.5", at, zero), limit[P]{
		ref: "4.5", field: "amount", rule: "must not be below zero", shown: "-9.17", bad: put(at, prepaid.MustAmount("-9.17")), good: put(at, prepaid.Cents(1)),
	})
}

// forgotten is the row of a required number.
func forgotten[P any](ref, field string, at func(*P) *int64) limit[P] {
	return limit[P]{ref: ref, field: field, rule: "is required", bad: put(at, 0), good: put(at, -1)}
}

// fundingMCC are rows for a four-digit category.
func mccLimits[P any](ref, field string, at func(*P) *prepaid.MCC) []limit[P] {
	return append([]limit[P]{form(ref, field, "is required", at, "", "0000")},
		forms(ref, field, "must be four digits", at,
			[2]prepaid.MCC{"917", "0917"}, [2]prepaid.MCC{"91753", "9999"}, [2]prepaid.MCC{"91x5", "0001"}, [2]prepaid.MCC{"９１７５", "6011"}, [2]prepaid.MCC{" 917", "5411"})...)
}

func currencyLimits[P any](at func(*P) *string) []limit[P] {
	return append([]limit[P]{form("4.5", "currency", "is required", at, "", "000")},
		forms("4.5", "currency", "must be three digits", at,
			[2]string{"97", "097"}, [2]string{"9753", "999"}, [2]string{"QZX", "036"}, [2]string{"９１７", "840"})...)
}

// Section 4.5: all required unless marked.
func TestValidationFunding(t *testing.T) {
	t.Parallel()
	t.Run("redemption", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.RedeemFundingParams
		rows := fundingAmounts(func(p *P) *prepaid.Amount { return &p.Amount }, func(p *P) *bool { return &p.ZeroAmount })
		rows = append(rows,
			needed("4.5", "account_id", func(p *P) *prepaid.AccountID { return &p.AccountID }),
			form("4.5", "funding_exception", "is required", func(p *P) *prepaid.FundingException { return &p.Exception }, "", "no_exception"))
		rows = append(rows, forms("4.5", "funding_exception", "must be one of no_exception, restrictions_not_satisfiable, funding_exhausted",
			func(p *P) *prepaid.FundingException { return &p.Exception },
			[2]prepaid.FundingException{"QZXWV", "restrictions_not_satisfiable"}, [2]prepaid.FundingException{"NO_EXCEPTION", "funding_exhausted"})...)
		rows = append(rows,
			needed("4.5", "merchant_name_location", func(p *P) *string { return &p.MerchantNameLocation }),
			forgotten("4.5", "originating_transaction", func(p *P) *int64 { return &p.OriginatingTransaction }))
		rows = append(rows, currencyLimits(func(p *P) *string { return &p.Currency })...)
		rows = append(rows,
			needed("4.5", "card_acceptor_id", func(p *P) *string { return &p.CardAcceptorID }),
			needed("4.5", "correlation_id", func(p *P) *string { return &p.CorrelationID }))
		rows = append(rows, mccLimits("4.5", "merchant_category", func(p *P) *prepaid.MCC { return &p.MerchantCategoryCode })...)
		rows = append(rows,
			needed("4.5", "terminal_id", func(p *P) *string { return &p.TerminalID }),
			needed("4.5", "acquirer_id", func(p *P) *string { return &p.AcquirerID }))
		requireLimits(t, harness.ValidRedeem, method[prepaid.RedeemFundingParams]("Funding.Redeem"), rows...)
		requireRefusal(t, sendsNothing(t, harness.Calling("Funding.Redeem", P{})), "",
			fields("amount", "account_id", "funding_exception", "merchant_name_location",
				"originating_transaction", "currency", "card_acceptor_id", "correlation_id",
				"merchant_category", "terminal_id", "acquirer_id")...)
	})
	t.Run("reversal", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.ReverseFundingParams
		parent := func(p *P) *prepaid.TransactionID { return &p.ParentTransactionID }
		rows := []limit[P]{
			needed("4.5", "account_id", func(p *P) *prepaid.AccountID { return &p.AccountID }),
			forgotten("4.5", "originating_transaction", func(p *P) *int64 { return &p.OriginatingTransaction }),
			needed("4.5", "correlation_id", func(p *P) *string { return &p.CorrelationID }),
			form("4.5", "parent_transaction_id", "is required", parent, "", "0"),
		}
		rows = append(rows, forms("4.5", "parent_transaction_id", "must be a whole number", parent, badTransactionIDs()...)...)
		requireLimits(t, harness.ValidReverse, method[prepaid.ReverseFundingParams]("Funding.Reverse"), rows...)
		requireRefusal(t, sendsNothing(t, harness.Calling("Funding.Reverse", P{})), "",
			fields("account_id", "originating_transaction", "correlation_id", "parent_transaction_id")...)
	})
	t.Run("refund", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.RefundFundingParams
		rows := fundingAmounts(func(p *P) *prepaid.Amount { return &p.Amount }, func(p *P) *bool { return &p.ZeroAmount })
		rows = append(rows, needed("4.5", "account_id", func(p *P) *prepaid.AccountID { return &p.AccountID }))
		rows = append(rows, forms("4.5", "parent_transaction_id", "must be a whole number",
			func(p *P) *prepaid.TransactionID { return &p.ParentTransactionID }, append(badTransactionIDs(), [2]prepaid.TransactionID{"QZX", ""})...)...)
		rows = append(rows,
			needed("4.5", "merchant_name_location", func(p *P) *string { return &p.MerchantNameLocation }),
			forgotten("4.5", "originating_transaction", func(p *P) *int64 { return &p.OriginatingTransaction }))
		rows = append(rows, currencyLimits(func(p *P) *string { return &p.Currency })...)
		rows = append(rows,
			needed("4.5", "card_acceptor_id", func(p *P) *string { return &p.CardAcceptorID }),
			needed("4.5", "correlation_id", func(p *P) *string { return &p.CorrelationID }))
		rows = append(rows, mccLimits("4.5", "merchant_category", func(p *P) *prepaid.MCC { return &p.MerchantCategoryCode })...)
		rows = append(rows,
			needed("4.5", "terminal_id", func(p *P) *string { return &p.TerminalID }),
			needed("4.5", "acquirer_id", func(p *P) *string { return &p.AcquirerID }))
		requireLimits(t, harness.ValidRefund, method[prepaid.RefundFundingParams]("Funding.Refund"), rows...)
		requireRefusal(t, sendsNothing(t, harness.Calling("Funding.Refund", P{ParentTransactionID: "x"})), "",
			fields("amount", "account_id", "parent_transaction_id", "merchant_name_location",
				"originating_transaction", "currency", "card_acceptor_id", "correlation_id",
				"merchant_category", "terminal_id", "acquirer_id")...)
	})
}

// A transaction id is sent as a JSON number here, of any length.
func badTransactionIDs() [][2]prepaid.TransactionID {
	return [][2]prepaid.TransactionID{
		{"9175x", "9175"}, {"917.5", "123456789012345678901234567890"}, {"09175", "0"}, {"+9175", "-1"}, {"9.17e5", "1"}, {" 9175", "7"},
	}
}

// Odd but legal: negative sequence numbers, false flags, every transaction type.
func TestValidationMoneyLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	for _, number := range []int64{-1, 1 << 62} {
		redeem, reverse, refund := harness.ValidRedeem(), harness.ValidReverse(), harness.ValidRefund()
		redeem.OriginatingTransaction, reverse.OriginatingTransaction, refund.OriginatingTransaction = number, number, number
		sends(t, "redemption", harness.Calling("Funding.Redeem", redeem))
		sends(t, "reversal", harness.Calling("Funding.Reverse", reverse))
		sends(t, "refund", harness.Calling("Funding.Refund", refund))
	}
	zero := harness.ValidRedeem()
	zero.Amount, zero.ZeroAmount, zero.ClearingAdjustment = prepaid.Amount{}, true, true
	sent := sends(t, "zero redemption", harness.Calling("Funding.Redeem", zero))
	require.Contains(t, sent.body, `"amount":0.00,`)
	require.NotContains(t, strings.ToLower(sent.body), "zero")
	below, credit, reversal := harness.ValidRedeem(), harness.ValidRefund(), harness.ValidReverse()
	below.Amount, below.NegativeAmount, below.OriginatingTransaction, below.ZeroOriginating = prepaid.MustAmount("-9.17"), true, 0, true
	credit.Amount, credit.NegativeAmount, credit.OriginatingTransaction, credit.ZeroOriginating = prepaid.MustAmount("-9.17"), true, 0, true
	reversal.OriginatingTransaction, reversal.ZeroOriginating = 0, true
	for _, call := range []func(context.Context, *prepaid.Client) error{
		harness.Calling("Funding.Redeem", below),
		harness.Calling("Funding.Refund", credit),
		harness.Calling("Funding.Reverse", reversal),
	} {
		sent := sends(t, "below zero, and the originating transaction 0", call)
		require.Contains(t, sent.body, `"originating_transaction":0,`)
		require.NotContains(t, strings.ToLower(sent.body), "zero")
		require.NotContains(t, strings.ToLower(sent.body), "negative")
	}
	for _, kind := range []prepaid.TransferType{0, prepaid.TransferTypeLoad, -1, 1 << 30} {
		params := harness.ValidTransfer()
		params.Type, params.DestinationAccountID = kind, "eaid" // also to itself
		sent := sends(t, "transfer", harness.Calling("Accounts.Transfer", "eaid", params))
		require.Contains(t, sent.body, `"transaction_type":`)
	}
}

// validated checks that validate reports the values that a call refuses.
func validated[P any](t *testing.T, valid func() P, validate func(P) error, rows []limit[P]) {
	t.Helper()
	require.NoError(t, validate(valid()))
	for _, row := range rows {
		params := valid()
		row.bad(&params)
		err := validate(params)
		harness.RequireFaults(t, err, row.shown, harness.Fault{Field: row.field, Rule: row.rule})
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	}
}
