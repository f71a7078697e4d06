package privacy

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
	call func(ctx context.Context, c *prepaid.Client) (any, error)
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
	calls := []canaryCall{
		{"Client.Check", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Check(ctx) }},
		{"Client.Do", func(ctx context.Context, c *prepaid.Client) (any, error) {
			var out struct {
				ID      int       `json:"id"`
				Balance int       `json:"balance"`
				Status  time.Time `json:"status"`
			}
			return nil, c.Do(ctx, canaryRaw(), &out)
		}},
		{"Accounts.Search", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Accounts.Search(ctx, search), 3)
		}},
		{"Accounts.SearchPage", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Accounts.SearchPage(ctx, search) }},
		{"Accounts.SearchCompany", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Accounts.SearchCompany(ctx, 7, company), 3)
		}},
		{"Accounts.SearchCompanyPage", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.SearchCompanyPage(ctx, 7, company)
		}},
		{"Accounts.Get", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.Get(ctx, "eaid", prepaid.IncludeCardholder)
		}},
		{"Accounts.SetStatus", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Accounts.SetStatus(ctx, "eaid", prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed})
		}},
		{"Accounts.SetPlasticEnabled", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Accounts.SetPlasticEnabled(ctx, "eaid", prepaid.SetPlasticEnabledParams{})
		}},
		{"Accounts.Create", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.Create(ctx, canaryCreate())
		}},
		{"Accounts.Issue", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.Issue(ctx, prepaid.IssueParams{Account: canaryCreate(), ProgramClientID: "client", VisibleWithin: 1})
		}},
		{"Accounts.FindCreated", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{ProgramClientID: "client", ClientAccountKey: "key", VisibleWithin: 1})
		}},
		{"Policy.EnsureCategories", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Policy.EnsureCategories(ctx, 42, prepaid.EnsureRulesParams[prepaid.MCC]{
				DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"7995"}, Reason: canaryOf("Sent", "Reason"),
			})
		}},
		{"Policy.EnsureMerchants", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Policy.EnsureMerchants(ctx, 42, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
				DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.MerchantRule{
					{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), Description: canaryOf("Sent", "Description")},
				},
			})
		}},
		{"Policy.EnsureTerminals", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Policy.EnsureTerminals(ctx, 42, prepaid.EnsureRulesParams[prepaid.TerminalRule]{
				DefaultAction: prepaid.PolicyActionAllow, Reason: canaryOf("Sent", "Reason"), Rules: []prepaid.TerminalRule{
					{AcquirerID: 1, CardAcceptorID: canaryOf("Sent", "Acceptor"), TerminalID: canaryOf("Sent", "Terminal"), Description: canaryOf("Sent", "Description")},
				},
			})
		}},
		{"Accounts.FindMovement", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.FindMovement(ctx, prepaid.FindMovementParams{AccountID: "eaid", Amount: prepaid.Cents(1), From: day, To: day, VisibleWithin: 1})
		}},
		{"Accounts.DiagnoseTransfer", func(ctx context.Context, c *prepaid.Client) (any, error) {
			payer, receiver, err := c.Accounts.DiagnoseTransfer(ctx, "eaid", prepaid.TransferParams{DestinationAccountID: "to"})
			return []*prepaid.AccountSummary{payer, receiver}, err
		}},
		{"Accounts.Update", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Accounts.Update(ctx, "eaid", update)
		}},
		{"Accounts.Transactions", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Accounts.Transactions(ctx, "eaid", prepaid.ListTransactionsParams{Paging: prepaid.Paging{Prefetch: 2}}), 3)
		}},
		{"Accounts.TransactionsPage", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.TransactionsPage(ctx, "eaid", prepaid.ListTransactionsParams{})
		}},
		{"Accounts.Transfer", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.Transfer(ctx, "eaid", harness.ValidTransfer())
		}},
		{"Accounts.DirectEntryOut", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.DirectEntryOut(ctx, "eaid", payment)
		}},
		{"Accounts.ProvisionWallet", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.ProvisionWallet(ctx, "eaid", "p", wallet)
		}},
		{"Accounts.ExchangeKey", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Accounts.ExchangeKey(ctx, "eaid", key)
		}},
		{"Policy.MerchantCategoryCodes", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Policy.MerchantCategoryCodes(ctx, prepaid.Paging{}), 3)
		}},
		{"Policy.MerchantCategoryCodesPage", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Policy.MerchantCategoryCodesPage(ctx, prepaid.Paging{})
		}},
		{"Policy.ChangeCategories", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Policy.ChangeCategories(ctx, 7, prepaid.ChangeRulesParams[prepaid.MCC]{Reason: canaryOf("Sent", "Reason")})
		}},
		{"Policy.ChangeMerchants", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Policy.ChangeMerchants(ctx, 7, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Reason: canaryOf("Sent", "Reason")})
		}},
		{"Policy.ChangeTerminals", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Policy.ChangeTerminals(ctx, 7, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Reason: canaryOf("Sent", "Reason")})
		}},
		{"Reporting.Start", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Reporting.Start(ctx, "t", prepaid.StartReportParams{})
		}},
		{"Reporting.Result", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Reporting.Result(ctx, run) }},
		{"Reporting.Open", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return readReport(c.Reporting.Open(ctx, run, prepaid.WaitOptions{}))
		}},
		{"Reporting.Run", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return readReport(c.Reporting.Run(ctx, "t", prepaid.RunReportParams{}))
		}},
		{"Funding.Redeem", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Funding.Redeem(ctx, harness.ValidRedeem())
		}},
		{"Funding.Reverse", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Funding.Reverse(ctx, harness.ValidReverse())
		}},
		{"Funding.Refund", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Funding.Refund(ctx, harness.ValidRefund())
		}},
		{"Simulation.Transact", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Simulation.Transact(ctx, simulated)
		}},
		{"Simulation.Advise", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Simulation.Advise(ctx, simulated) }},
		{"Simulation.Reverse", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Simulation.Reverse(ctx, simulated) }},
		{"Simulation.Clear", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Simulation.Clear(ctx, simulated) }},
		{"Simulation.ReverseClear", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Simulation.ReverseClear(ctx, simulated)
		}},
		{"PIN.Initiate", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.PIN.Initiate(ctx, prepaid.InitiatePINParams{AccountID: "eaid", DeviceID: "d", IPAddress: canaryOf("Sent", "IP"), CommunicationMethod: "sms"})
		}},
		{"PIN.Validate", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.PIN.Validate(ctx, sealed) }},
		{"PIN.Execute", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.PIN.Execute(ctx, sealed) }},
		{"Hooks.List", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Hooks.List(ctx, prepaid.Paging{}), 3)
		}},
		{"Hooks.ListPage", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Hooks.ListPage(ctx, prepaid.Paging{})
		}},
		{"Hooks.Create", func(ctx context.Context, c *prepaid.Client) (any, error) { return c.Hooks.Create(ctx, hook) }},
		{"Hooks.Update", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Hooks.Update(ctx, "hook", prepaid.UpdateHookParams{HMACKeySecret: prepaid.NewSecret(canaryHMAC)})
		}},
		{"Hooks.Undeliverable", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return prepaid.Collect(c.Hooks.Undeliverable(ctx, "hook", prepaid.Paging{}), 3)
		}},
		{"Hooks.UndeliverablePage", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return c.Hooks.UndeliverablePage(ctx, "hook", prepaid.Paging{})
		}},
		{"Hooks.Dismiss", func(ctx context.Context, c *prepaid.Client) (any, error) {
			return nil, c.Hooks.Dismiss(ctx, "hook", "m")
		}},
	}
	for _, o := range operations.All() {
		if id := harness.OnlyID(o.Name, prepaid.AccountID("eaid"), prepaid.CompanyID(7), prepaid.HookID("hook")); id != nil {
			calls = append(calls, canaryCall{o.Name, func(ctx context.Context, c *prepaid.Client) (any, error) { return harness.Call(ctx, c, o.Name, id) }})
		}
	}
	return calls
}

// readReport reads a streamed report to its end in one of the two ways that keep it.
func readReport(r *prepaid.ReportReader, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Run().Template == "t" && r.Run().ID == "1" {
		for _, err := range r.Rows() {
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	_, err = io.Copy(io.Discard, r)
	return nil, err
}

// A new operation has to be added to canaryCalls.
func TestCanaryCallsAreComplete(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{"Client.Token": true, "Client.Close": true, "Client.Format": true, "Client.LogValue": true, "Client.With": true, "Accounts.NotBefore": true, "Accounts.AwaitRepeat": true} // TestCanaryClient; no call
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
