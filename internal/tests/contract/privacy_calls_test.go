package contract

import (
	"context"
	"io"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/operator"
)

// Canaries that a limit keeps from having the usual form.
const (
	canaryName     = "CNRY/NAME-ON.CARD"
	canaryNumber   = "99887766554433"
	canaryPostcode = "Cnry7Postcode7"
	canaryHMAC     = "c0ffee0ddba11c0ffee0ddba11c0ffee0ddba11c0ffee0ddba11c0ffee0ddba1"
)

// canaryCall is one exported call with canaries in everything that it sends but its ids.
type canaryCall struct {
	name string
	call func(ctx context.Context, c *prepaid.Client) error
}

// canaryPerson and canaryCreate have a canary in each text, also in a new one, unless a limit forbids it.
func canaryPerson() *prepaid.Cardholder {
	var p prepaid.Cardholder
	fillCanaries(reflect.ValueOf(&p).Elem(), "", "", map[string]bool{})
	p.PrimaryAddress.State, p.PrimaryAddress.Country, p.PrimaryAddress.Postcode = "WA", "AU", canaryPostcode
	p.AlternateAddress.State, p.AlternateAddress.Country, p.AlternateAddress.Postcode = "WA", "AU", canaryPostcode
	p.Sex, p.EmailAddress, p.DriverLicenceNumber = prepaid.SexMale, p.EmailAddress+"@example.com", canaryOf("Sent", "Licence")
	p.Passport = &prepaid.Passport{Number: "cnry_p_n_", Expiry: prepaid.Date{Year: 2999, Month: 1, Day: 1}, IssuingCountry: "AUS"}
	return &p
}

func canaryCreate() prepaid.CreateAccountParams {
	var p prepaid.CreateAccountParams
	fillCanaries(reflect.ValueOf(&p).Elem(), "", "", map[string]bool{})
	p.Cardholder, p.NameOnCard, p.ClientAccountKey, p.MDESConfigID, p.RequestType, p.AccountIDToReplace = canaryPerson(), canaryName, "key", "", "", ""
	return p
}

func canaryRaw() prepaid.RawRequest {
	return prepaid.RawRequest{
		Method: "PUT", Path: "/accounts/{id}/expiry", PathValues: map[string]string{"id": canaryOf("Path", "Value")},
		Query: url.Values{"name": {canaryOf("Query", "Raw")}}, Body: map[string]string{canaryOf("Sent", "Member"): canaryOf("Sent", "Raw")},
	}
}

func canarySealed(t *testing.T) prepaid.SealedPINParams {
	t.Helper()
	envelope, err := canaryPINKey(t).Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(canaryOf("Sent", "OTP")), PIN: prepaid.NewSecret(canaryOf("Sent", "PIN"))})
	require.NoError(t, err)
	return prepaid.SealedPINParams{OperationID: harness.UUID, DeviceID: "d", IPAddress: canaryOf("Sent", "IP"), Envelope: envelope}
}

// canaryCalls is every call of every service. Operations that take only an ID follow from the table.
func canaryCalls(t *testing.T) []canaryCall {
	t.Helper()
	sealed := canarySealed(t)
	simulated := prepaid.SimulateParams{Type: prepaid.SimulatedTypePurchase, AccountID: "eaid", Amount: prepaid.Cents(1)}
	run := prepaid.ReportRun{Template: "t", ID: "1"}
	search := prepaid.SearchAccountsParams{ProgramClientID: "client", ClientAccountKey: "key", Include: []prepaid.Include{prepaid.IncludeCardholder}}
	company := prepaid.SearchCompanyParams{FirstName: canaryOf("Query", "FirstName"), LastName: canaryOf("Query", "LastName"), Mobile: canaryOf("Query", "Mobile")}
	var update prepaid.UpdateAccountParams
	fillCanaries(reflect.ValueOf(&update).Elem(), "", "", map[string]bool{})
	update.Cardholder = canaryPerson()
	payment := prepaid.DirectEntryOutParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(1), SourceReference: "s", DestinationReference: "d", BSB: "062000",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: canaryNumber, AccountName: canaryOf("Sent", "AccountName")},
	}
	hook := harness.ValidHook()
	hook.HMACKeySecret = prepaid.NewSecret(canaryHMAC)
	key := harness.ValidExchangeKey()
	key.EphemeralKey, _ = prepaid.EphemeralKeyFrom([]byte(canaryOf("Sent", "EphemeralKey") + "0123456789")[:32])
	wallet := prepaid.ProvisionWalletParams{Nonce: canaryOf("Sent", "Nonce"), NonceSignature: canaryOf("Sent", "Signature"), Certificates: []string{canaryOf("Sent", "Certificate")}}
	day := canaryDate.Time(nil)
	with := func(operation string, values ...any) canaryCall {
		return canaryCall{operation, harness.Calling(operation, values...)}
	}
	calls := []canaryCall{
		{"Client.Check", func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Check(ctx)
			return err
		}},
		{"Client.Do", func(ctx context.Context, c *prepaid.Client) error {
			var out struct {
				ID      int       `json:"id"`
				Balance int       `json:"balance"`
				Status  time.Time `json:"status"`
			}
			return c.Do(ctx, canaryRaw(), &out)
		}},
		with("Accounts.Search", search),
		with("Accounts.SearchPage", search),
		with("Accounts.SearchCompany", 7, company),
		with("Accounts.SearchCompanyPage", 7, company),
		with("Accounts.Get", "eaid", prepaid.IncludeCardholder),
		with("Accounts.SetStatus", "eaid", prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed}),
		with("Accounts.SetPlasticEnabled", "eaid", prepaid.SetPlasticEnabledParams{}),
		with("Accounts.Create", canaryCreate()),
		with("Accounts.Issue", prepaid.IssueParams{Account: canaryCreate(), ProgramClientID: "client", VisibleWithin: 1}),
		with("Accounts.FindCreated", prepaid.FindCreatedParams{ProgramClientID: "client", ClientAccountKey: "key", VisibleWithin: 1}),
		with("Policy.EnsureCategories", 42, prepaid.EnsureRulesParams[prepaid.MCC]{
			DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"7995"}, Reason: canaryOf("Sent", "Reason"),
		}),
		with("Policy.EnsureMerchants", 42, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.MerchantRule{
				{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), Description: canaryOf("Sent", "Description")},
			},
		}),
		with("Policy.EnsureTerminals", 42, prepaid.EnsureRulesParams[prepaid.TerminalRule]{
			DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.TerminalRule{
				{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), TerminalID: canaryOf("Sent", "Terminal"), Description: canaryOf("Sent", "Description")},
			},
		}),
		with("Accounts.FindMovement", prepaid.FindMovementParams{AccountID: "eaid", Amount: prepaid.Cents(1), From: day, To: day, VisibleWithin: 1}),
		with("Accounts.DiagnoseTransfer", "eaid", prepaid.TransferParams{DestinationAccountID: "to"}),
		with("Accounts.Update", "eaid", update),
		with("Accounts.Transactions", "eaid", prepaid.ListTransactionsParams{Paging: prepaid.Paging{Prefetch: 2}}),
		with("Accounts.TransactionsPage", "eaid", prepaid.ListTransactionsParams{}),
		with("Accounts.Transfer", "eaid", harness.ValidTransfer()),
		with("Accounts.DirectEntryOut", "eaid", payment),
		with("Accounts.ProvisionWallet", "eaid", "p", wallet),
		with("Accounts.ExchangeKey", "eaid", key),
		with("Policy.MerchantCategoryCodes", prepaid.Paging{}),
		with("Policy.MerchantCategoryCodesPage", prepaid.Paging{}),
		with("Policy.ChangeCategories", 7, prepaid.ChangeRulesParams[prepaid.MCC]{Reason: canaryOf("Sent", "Reason")}),
		with("Policy.ChangeMerchants", 7, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Reason: canaryOf("Sent", "Reason")}),
		with("Policy.ChangeTerminals", 7, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Reason: canaryOf("Sent", "Reason")}),
		with("Reporting.Start", "t", prepaid.StartReportParams{}),
		with("Reporting.Result", run),
		{"Reporting.Open", func(ctx context.Context, c *prepaid.Client) error {
			return readReport(c.Reporting.Open(ctx, run, prepaid.WaitOptions{}))
		}},
		{"Reporting.Run", func(ctx context.Context, c *prepaid.Client) error {
			return readReport(c.Reporting.Run(ctx, "t", prepaid.RunReportParams{}))
		}},
		with("Funding.Redeem", harness.ValidRedeem()),
		with("Funding.Reverse", harness.ValidReverse()),
		with("Funding.Refund", harness.ValidRefund()),
		with("Simulation.Transact", simulated),
		with("Simulation.Advise", simulated),
		with("Simulation.Reverse", simulated),
		with("Simulation.Clear", simulated),
		with("Simulation.ReverseClear", simulated),
		with("PIN.Initiate", prepaid.InitiatePINParams{AccountID: "eaid", DeviceID: "d", IPAddress: canaryOf("Sent", "IP"), CommunicationMethod: "sms"}),
		with("PIN.Validate", sealed),
		with("PIN.Execute", sealed),
		with("Hooks.List", prepaid.Paging{}),
		with("Hooks.ListPage", prepaid.Paging{}),
		with("Hooks.Create", hook),
		with("Hooks.Update", "hook", prepaid.UpdateHookParams{HMACKeySecret: prepaid.NewSecret(canaryHMAC)}),
		with("Hooks.Undeliverable", "hook", prepaid.Paging{}),
		with("Hooks.UndeliverablePage", "hook", prepaid.Paging{}),
		with("Hooks.Dismiss", "hook", "m"),
	}
	for _, o := range operations.All() {
		if id := harness.OnlyID(o.Name, prepaid.AccountID("eaid"), prepaid.CompanyID(7), prepaid.HookID("hook")); id != nil {
			calls = append(calls, with(o.Name, id))
		}
	}
	return calls
}

// readReport reads a streamed report to its end in one of the two ways that keep it.
func readReport(r *prepaid.ReportReader, err error) error {
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Run().Template == "t" && r.Run().ID == "1" {
		for _, err := range r.Rows() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	_, err = io.Copy(io.Discard, r)
	return err
}

// A new operation has to be added to canaryCalls.
func TestCanaryCallsAreComplete(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{"Client.Token": true, "Client.Close": true, "Client.Format": true, "Client.LogValue": true, "Client.With": true, "Accounts.NotBefore": true, "Accounts.AwaitRepeat": true, "Accounts.Evidence": true, "Accounts.UseEvidence": true} // TestCanaryClient; no call
	for _, c := range canaryCalls(t) {
		require.False(t, listed[c.name], c.name)
		listed[c.name] = true
	}
	count := 0
	for _, service := range []any{
		&prepaid.Client{}, &prepaid.AccountsService{}, &prepaid.PolicyService{}, &prepaid.ReportingService{}, &prepaid.FundingService{}, &prepaid.SimulationService{}, &prepaid.PINService{}, &prepaid.HooksService{},
	} {
		kind := reflect.TypeOf(service)
		for method := range kind.Methods() {
			name := strings.TrimSuffix(kind.Elem().Name(), "Service") + "." + method.Name
			require.True(t, listed[name], name)
			count++
		}
	}
	require.Len(t, listed, count)
}

func canaryPINKey(t *testing.T) *prepaid.PINKey {
	t.Helper()
	key, err := prepaid.NewPINKey(operator.Certificate(t, &operator.Key().PublicKey), prepaid.PINKeyOptions{})
	require.NoError(t, err)
	return key
}
