package contract

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// exercise is an operation with a call.
type exercise struct {
	operation string
	prepare   func(s *hookStage) func(context.Context) error // creates the objects that the call needs
}

// done drops the result of a call.
func done[T any](_ T, err error) error { return err }

// at is the method and the path of an operation.
func at(operation string) string {
	for _, o := range operations.All() {
		if o.Name == operation {
			return o.Method + " " + o.Path
		}
	}
	return ""
}

// on makes an exercise of an operation's Go method with the values that make returns.
func on(operation string, values func(s *hookStage) []any) exercise {
	return exercise{at(operation), func(s *hookStage) func(context.Context) error {
		call := harness.Calling(operation, values(s)...)
		return func(ctx context.Context) error { return call(ctx, s.client) }
	}}
}

// plain is a call without prerequisites.
func plain(operation string, values ...any) exercise {
	return on(operation, func(*hookStage) []any { return values })
}

// onAccount is a call about an account with money on it.
func onAccount(operation string, values ...any) exercise {
	return on(operation, func(s *hookStage) []any { return append([]any{s.seed("100.00")}, values...) })
}

// aboutAccount is a call whose params name an account with money on it.
func aboutAccount[P any](operation string, params func(id prepaid.AccountID) P) exercise {
	return on(operation, func(s *hookStage) []any { return []any{params(s.seed("100.00"))} })
}

// simulated is a call of the simulator about an earlier purchase.
func simulated(operation string, params func(prepaid.SimulateParams, string) prepaid.SimulateParams) exercise {
	return on(operation, func(s *hookStage) []any {
		bought := purchase(s.seed("100.00"), "10.00")
		made, err := s.client.Simulation.Transact(s.t.Context(), bought)
		require.NoError(s.t, err)
		return []any{params(bought, made.AuthorizationID)}
	})
}

// sealed is a call with a PIN envelope.
func sealed(operation string) exercise {
	return on(operation, func(s *hookStage) []any { return []any{s.pinChange(s.seed("0"), prepaid.PINKeyOptions{})} })
}

const company = prepaidtest.DefaultCompany

// exercises has every operation. Those that take only an ID follow from the table.
func exercises() []exercise {
	all := slices.Concat(tokenAndReportExercises(), accountExercises(), moneyExercises(), otherExercises())
	for _, o := range operations.All() {
		if harness.OnlyID(o.Name, prepaid.AccountID(""), company, prepaid.HookID("")) != nil {
			all = append(all, on(o.Name, func(s *hookStage) []any {
				return []any{harness.OnlyID(o.Name, s.seed("100.00"), company, s.register(false))}
			}))
		}
	}
	return all
}

func tokenAndReportExercises() []exercise {
	return []exercise{
		{"POST /token", func(s *hookStage) func(context.Context) error {
			client := s.Client() // has no token yet
			return func(ctx context.Context) error { return done(client.Token(ctx)) }
		}},
		plain("Reporting.Start", prepaidtest.DailySettlement, prepaid.StartReportParams{}),
		on("Reporting.Result", func(s *hookStage) []any {
			run, err := s.client.Reporting.Start(s.t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
			require.NoError(s.t, err)
			return []any{*run}
		}),
	}
}

func accountExercises() []exercise {
	return []exercise{
		plain("Policy.MerchantCategoryCodes", prepaid.Paging{}),
		plain("Policy.ChangeCategories", company, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}}),
		plain("Policy.ChangeMerchants", company, prepaid.ChangeRulesParams[prepaid.MerchantRule]{
			Add: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}},
		}),
		plain("Policy.ChangeTerminals", company, prepaid.ChangeRulesParams[prepaid.TerminalRule]{
			Add: []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}},
		}),
		plain("Accounts.Search", prepaid.SearchAccountsParams{ProgramClientID: "acme", ClientAccountKey: "none"}),
		plain("Accounts.Create", prepaid.CreateAccountParams{CompanyID: company, Cardholder: cardholder()}),
		plain("Accounts.SearchCompany", company, prepaid.SearchCompanyParams{}),
		onAccount("Accounts.Get"),
		onAccount("Accounts.Update", prepaid.UpdateAccountParams{Cardholder: cardholder()}),
		onAccount("Accounts.Transactions", prepaid.ListTransactionsParams{}),
		onAccount("Accounts.SetStatus", prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive}),
		onAccount("Accounts.SetPlasticEnabled", prepaid.SetPlasticEnabledParams{}),
		onAccount("Accounts.ProvisionWallet", "googlepay", prepaid.ProvisionWalletParams{}),
		on("Accounts.ExchangeKey", func(s *hookStage) []any { return []any{s.seed("0"), harness.KeyExchange()} }),
	}
}

func moneyExercises() []exercise {
	return []exercise{
		on("Accounts.DirectEntryOut", func(s *hookStage) []any { return []any{s.seed("100.00"), directEntry("25.50")} }),
		on("Accounts.Transfer", func(s *hookStage) []any {
			return []any{s.seed("100.00"), harness.TransferTo(s.seed("0"), "25.50")}
		}),
		aboutAccount("Funding.Redeem", func(id prepaid.AccountID) prepaid.RedeemFundingParams { return redemption(id, "25.50") }),
		on("Funding.Reverse", func(s *hookStage) []any {
			params := redemption(s.seed("100.00"), "25.50")
			made, err := s.client.Funding.Redeem(s.t.Context(), params)
			require.NoError(s.t, err)
			return []any{reversal(params, made.TransactionID)}
		}),
		aboutAccount("Funding.Refund", func(id prepaid.AccountID) prepaid.RefundFundingParams { return refund(id, "25.50") }),
		aboutAccount("Simulation.Transact", func(id prepaid.AccountID) prepaid.SimulateParams { return purchase(id, "10.00") }),
		simulated("Simulation.Advise", about), simulated("Simulation.Reverse", about),
		simulated("Simulation.Clear", clearingOf), simulated("Simulation.ReverseClear", clearingOf),
	}
}

func otherExercises() []exercise {
	return []exercise{
		aboutAccount("PIN.Initiate", initiation), sealed("PIN.Validate"), sealed("PIN.Execute"),
		on("Hooks.List", func(s *hookStage) []any {
			s.register(false)
			return []any{prepaid.Paging{}}
		}),
		on("Hooks.Create", func(s *hookStage) []any { return []any{s.hook(true)} }),
		on("Hooks.Update", func(s *hookStage) []any {
			return []any{s.register(false), prepaid.UpdateHookParams{Enabled: new(false)}}
		}),
		on("Hooks.Undeliverable", func(s *hookStage) []any { return []any{s.register(false), prepaid.Paging{}} }),
		{"POST /hooks/{id}/undeliverable/dismiss", func(s *hookStage) func(context.Context) error {
			id, messages := s.undelivered(1)
			return func(ctx context.Context) error { return s.client.Hooks.Dismiss(ctx, id, messages...) }
		}},
	}
}

// directEntry has every field, and a new request id.
func directEntry(amount string) prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), SourceReference: "RENT", DestinationReference: "UNIT 4",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "Landlord"},
		BSB:         "633000", InitiatingUserID: "batch",
	}
}

// redemption has every field.
func redemption(id prepaid.AccountID, amount string) prepaid.RedeemFundingParams {
	return prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount(amount), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, ClearingAdjustment: true, Currency: "036",
		CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T0000001", AcquirerID: "100001",
	}
}

// reversal undoes a redemption.
func reversal(of prepaid.RedeemFundingParams, parent prepaid.TransactionID) prepaid.ReverseFundingParams {
	return prepaid.ReverseFundingParams{
		AccountID: of.AccountID, OriginatingTransaction: of.OriginatingTransaction, CorrelationID: of.CorrelationID,
		ParentTransactionID: parent, ClearingAdjustment: true,
	}
}

// refund has every field but the parent.
func refund(id prepaid.AccountID, amount string) prepaid.RefundFundingParams {
	return prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount(amount), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU",
		OriginatingTransaction: 900001, Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7",
		MerchantCategoryCode: "5411", TerminalID: "T0000001", AcquirerID: "100001",
	}
}

// purchase has every field that Transact takes.
func purchase(id prepaid.AccountID, amount string) prepaid.SimulateParams {
	return prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount(amount),
		AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
		BankName: "Example Bank", Location: "Sydney", LocationCode: "AU", CurrencyCode: "036",
	}
}

// about is a purchase as Advise and Reverse take it, with every field.
func about(params prepaid.SimulateParams, authorization string) prepaid.SimulateParams {
	params.AuthorizationID = authorization
	return params
}

// clearingOf is a purchase as Clear and ReverseClear take it, with every field.
func clearingOf(params prepaid.SimulateParams, authorization string) prepaid.SimulateParams {
	params = about(params, authorization)
	params.BankName, params.Location, params.LocationCode, params.CurrencyCode = "", "", "", ""
	return params
}

// initiation has every field.
func initiation(id prepaid.AccountID) prepaid.InitiatePINParams {
	return prepaid.InitiatePINParams{AccountID: id, DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms"}
}

// pinResponse is the emulator's response; the reference shows nothing.
type pinResponse struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
}

// initiatePIN starts a change and returns its operation id.
func (s *stage) initiatePIN(id prepaid.AccountID) string {
	s.t.Helper()
	started, err := s.client.PIN.Initiate(s.t.Context(), initiation(id))
	require.NoError(s.t, err)
	require.Equal(s.t, 200, started.StatusCode)
	var response pinResponse
	require.NoError(s.t, started.Decode(&response))
	require.Equal(s.t, "initiated", response.Status)
	return response.OperationID
}

// seal makes an envelope for the emulator's certificate.
func (s *stage) seal(options prepaid.PINKeyOptions, otp, pin string) *prepaid.PINEnvelope {
	s.t.Helper()
	key, err := prepaid.NewPINKey(s.PINCertificate(), options)
	require.NoError(s.t, err)
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(otp), PIN: prepaid.NewSecret(pin)})
	require.NoError(s.t, err)
	return envelope
}

// pinChange starts a change to 4921 and returns the params of its further steps, with every field.
func (s *stage) pinChange(id prepaid.AccountID, options prepaid.PINKeyOptions) prepaid.SealedPINParams {
	s.t.Helper()
	operation := s.initiatePIN(id)
	return prepaid.SealedPINParams{
		OperationID: operation, DeviceID: "device-1", IPAddress: "203.0.113.7", Envelope: s.seal(options, s.OTP(operation), "4921"),
	}
}
