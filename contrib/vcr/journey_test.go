package prepaidvcr_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// journey calls every operation. Its values, except amounts, statuses and similar, contain word, so that two
// journeys share none; notes has the kept values.
type journey struct {
	t        *testing.T
	client   *prepaid.Client
	word     string
	company  prepaid.CompanyID
	template string
	from, to prepaid.AccountID
	uri      string
	pin      []byte // the certificate
	otp      func(operation string) string
	undo     func() // undoes the failure of messages
	notes    []string
}

func (j *journey) note(format string, values ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, values...))
}

// text is a value of a field.
func (j *journey) text(field string) string { return j.word + " " + field + ` "€&` }

// id is a value of a field that takes letters and digits.
func (j *journey) id(field string) string { return j.word + "-" + field }

func (j *journey) digits(field string, length int) string {
	sum := sha256.Sum256([]byte(j.word + field))
	var text strings.Builder
	text.WriteByte('7')
	for _, b := range sum {
		text.WriteByte('0' + b%10)
	}
	return text.String()[:length]
}

func (j *journey) uuid(field string) string {
	sum := sha256.Sum256([]byte(j.word + field))
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func (j *journey) ok(err error) {
	j.t.Helper()
	require.NoError(j.t, err)
}

func (j *journey) cardholder() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		Title: j.text("Title"), FirstName: j.text("First"), MiddleName: j.text("Middle"), LastName: j.text("Last"), Sex: prepaid.SexMale,
		PrimaryAddress: prepaid.Address{
			Line1: j.text("Line1"), Line2: j.text("Line2"), Line3: j.text("Line3"), City: j.text("City"), State: j.word[:5],
			Country: "AU", Postcode: j.digits("Postcode", 8),
		},
		AlternateAddress: &prepaid.AlternateAddress{
			Line1: j.text("Other1"), Line2: j.text("Other2"), City: j.text("Town"), State: j.word[:5], Country: "NZ", Postcode: j.word + "123",
		},
		MobileNumber: "+" + j.digits("Mobile", 11), PhoneNumber: j.digits("Phone", 10), EmailAddress: j.word + ".mail@example.net",
		DateOfBirth: prepaid.Date{Year: 1987, Month: time.March, Day: len(j.word)}, DriverLicenceNumber: j.id("DL"),
		Passport: &prepaid.Passport{
			Number: j.word + "9", Expiry: prepaid.Date{Year: 2077, Month: time.May, Day: len(j.word)}, IssuingCountry: "AUS",
		},
	}
}

func (j *journey) run() []string {
	j.t.Helper()
	for _, part := range []func(){j.accounts, j.changes, j.money, j.simulator, j.wallets, j.reads, j.policy, j.reports, j.pins, j.hooks} {
		part()
	}
	return j.notes
}

func (j *journey) accounts() {
	c := j.client.Accounts
	key := j.id("Key")
	made, err := c.Create(j.t.Context(), prepaid.CreateAccountParams{
		CompanyID: j.company, InitialLoadAmount: prepaid.MustAmount("12.50"), Cardholder: j.cardholder(),
		NameOnCard: "CARD-" + j.digits("Card", 6), ClientAccountKey: key, DisplayName: j.text("Display"), InitiatingUserID: j.id("User"),
		PlasticEnabled: new(true), MDESConfigID: j.digits("MDES", 8), CardholderType: 1, RequestType: prepaid.RequestTypeNew,
		PortalIdentifier: &prepaid.PortalIdentifier{ClientID: j.id("PC"), ProgramID: j.id("PP"), CardholderID: j.id("PH")},
		GiftCardExpiry:   time.Now().AddDate(3, 0, 0),
	})
	j.ok(err)
	j.note("created %v %v", made.Balance, made.Status)
	found, err := prepaid.Collect(c.Search(j.t.Context(), prepaid.SearchAccountsParams{
		ProgramClientID: prepaidtest.DefaultProgramClientID, ClientAccountKey: key, Include: []prepaid.Include{prepaid.IncludeCardholder},
	}), 2)
	j.ok(err)
	require.Len(j.t, found, 1)
	created := found[0].ID
	require.Equal(j.t, made.ExternalAccountID, found[0].ExternalAccountID, "relations hold between responses")
	j.note("found %v", found[0].Balance)
	page, err := c.SearchCompanyPage(j.t.Context(), found[0].CompanyID, prepaid.SearchCompanyParams{
		ProgramClientID: prepaidtest.DefaultProgramClientID, Status: prepaid.AccountStatusActive, FirstName: j.text("First"),
		LastName: j.text("Last"), Mobile: "+" + j.digits("Mobile", 11), Include: []prepaid.Include{prepaid.IncludeCardholder},
		Paging: prepaid.Paging{Page: 1, Size: 50},
	})
	j.ok(err)
	j.note("company %d of %d", len(page.Items), page.TotalItems)
	account, err := c.Get(j.t.Context(), created, prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText,
		prepaid.IncludeBPay, prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType)
	j.ok(err)
	require.Equal(j.t, created, account.ID)
	require.NotNil(j.t, account.Cardholder)
	require.NotNil(j.t, account.Cardholder.Passport)
	j.note("got %v %v %v %v", account.Status, account.Balance, account.PlasticEnabled, account.CardholderType)
	// Values from responses are sent: a pseudonym must be accepted where its value was.
	j.ok(c.Update(j.t.Context(), created, prepaid.UpdateAccountParams{
		Cardholder: account.Cardholder, ClientAccountKey: new(account.ClientAccountKey), DisplayName: new(account.DisplayName),
		InitiatingUserID: j.id("User"), PortalIdentifier: account.PortalIdentifier,
	}))
	status, err := c.Summary(j.t.Context(), created)
	j.ok(err)
	require.Equal(j.t, made.ExternalAccountID, status.ExternalAccountID)
	j.note("status %v", status.Status)
}

func (j *journey) changes() {
	c := j.client.Accounts
	j.ok(c.SetStatus(j.t.Context(), j.to, prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive}))
	j.ok(c.SetStatus(j.t.Context(), j.to, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}))
	j.ok(c.SetPlasticEnabled(j.t.Context(), j.to, prepaid.SetPlasticEnabledParams{Enabled: true, InitiatingUserID: j.id("User")}))
}

func (j *journey) money() {
	c := j.client.Accounts
	moved, err := c.Transfer(j.t.Context(), j.from, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: j.to,
		SourceReference: j.text("Source"), DestinationReference: j.text("Target"), Type: prepaid.TransferTypeLoad, InitiatorUsername: j.id("Batch"),
	})
	j.ok(err)
	paid, err := c.DirectEntryOut(j.t.Context(), j.from, prepaid.DirectEntryOutParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("1.25"), SourceReference: j.text("Rent"),
		DestinationReference: j.text("Unit"), BSB: j.digits("BSB2", 6), InitiatingUserID: j.id("User"),
		Destination: prepaid.BankAccount{BSB: j.digits("BSB", 6), AccountNumber: j.digits("Bank", 9), AccountName: j.text("Landlord")},
	})
	j.ok(err)
	require.NotEqual(j.t, moved.TransactionID, paid.TransactionID)
	history, err := prepaid.Collect(c.Transactions(j.t.Context(), j.from, prepaid.ListTransactionsParams{
		From: time.Now().AddDate(0, -1, 0), To: time.Now().AddDate(0, 1, 0),
	}), 100)
	j.ok(err)
	seen := map[prepaid.TransactionID]prepaid.Amount{}
	for _, item := range history {
		seen[item.ID] = item.Amount
		j.note("item %v %v %v %v", item.Type, item.Amount, item.AmountCurrency, item.RunningBalance)
	}
	require.Equal(j.t, "-25.50", seen[moved.TransactionID].String(), "relations hold between operations")
	j.funding()
}

func (j *journey) funding() {
	redeem := prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount("3.00"), AccountID: j.from, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: j.text("Shop"), OriginatingTransaction: 900000000 + int64(len(j.word)), ClearingAdjustment: true, Currency: "036",
		CardAcceptorID: j.id("Acceptor"), CorrelationID: j.id("Order"), MerchantCategoryCode: "5411", TerminalID: j.id("Till"),
		AcquirerID: j.digits("Acquirer", 9),
	}
	redeemed, err := j.client.Funding.Redeem(j.t.Context(), redeem)
	j.ok(err)
	reversed, err := j.client.Funding.Reverse(j.t.Context(), prepaid.ReverseFundingParams{
		AccountID: j.from, OriginatingTransaction: redeem.OriginatingTransaction, CorrelationID: redeem.CorrelationID,
		ParentTransactionID: redeemed.TransactionID, ClearingAdjustment: true,
	})
	j.ok(err)
	refunded, err := j.client.Funding.Refund(j.t.Context(), prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount("2.00"), AccountID: j.from, MerchantNameLocation: j.text("Shop"),
		OriginatingTransaction: redeem.OriginatingTransaction, Currency: "036", CardAcceptorID: redeem.CardAcceptorID,
		CorrelationID: j.id("Order2"), MerchantCategoryCode: "5411", TerminalID: redeem.TerminalID, AcquirerID: redeem.AcquirerID,
	})
	j.ok(err)
	j.note("funding %v %v %v", redeemed.Outcome, reversed.Outcome, refunded.Outcome)
}

func (j *journey) simulator() {
	params := prepaid.SimulateParams{
		Type: prepaid.SimulatedTypePurchase, AccountID: j.from, Amount: prepaid.MustAmount("4.00"), AcquirerID: j.digits("Sim", 9),
		MerchantID: j.id("SimShop"), TerminalID: j.id("SimTill"), MerchantCategoryCode: "5411", BankName: j.text("Bank"),
		Location: j.text("Place"), LocationCode: j.word[:2], CurrencyCode: "036",
	}
	bought, err := j.client.Simulation.Transact(j.t.Context(), params)
	j.ok(err)
	params.AuthorizationID = bought.AuthorizationID
	advised, err := j.client.Simulation.Advise(j.t.Context(), params)
	j.ok(err)
	reversed, err := j.client.Simulation.Reverse(j.t.Context(), params)
	j.ok(err)
	params.BankName, params.Location, params.LocationCode, params.CurrencyCode = "", "", "", ""
	cleared, err := j.client.Simulation.Clear(j.t.Context(), params)
	j.ok(err)
	undone, err := j.client.Simulation.ReverseClear(j.t.Context(), params)
	j.ok(err)
	j.note("simulated %v %v %v %v %v", bought.Success, advised.Success, reversed.Success, cleared.Success, undone.Success)
}

func (j *journey) wallets() {
	c := j.client.Accounts
	tokens, err := c.WalletTokens(j.t.Context(), j.from)
	j.ok(err)
	require.Len(j.t, tokens, 1)
	j.note("wallet %v %v", tokens[0].Status, tokens[0].Type)
	wallet, err := c.ProvisionWallet(j.t.Context(), j.from, "googlepay", prepaid.ProvisionWalletParams{
		TokenUniqueReference: tokens[0].TokenUniqueReference, InitiatingUserID: j.id("User"), Nonce: j.id("Nonce"),
		NonceSignature: j.id("Signature"), Certificates: []string{j.id("Leaf"), j.id("Root")},
	})
	j.ok(err)
	j.note("provisioned %v", wallet.ProductType)
	key := sha256.Sum256([]byte(j.word + " single use"))
	ephemeral, err := prepaid.EphemeralKeyFrom(key[:])
	j.ok(err)
	exchanged, err := c.ExchangeKey(j.t.Context(), j.from, prepaid.ExchangeKeyParams{
		ApplicationID: j.uuid("App"), KeyID: j.uuid("AppKey"), EphemeralKey: ephemeral,
	})
	j.ok(err)
	require.NotEmpty(j.t, exchanged.Body)
}

// reads calls the operations that read by an ID alone, so that a new one needs no call here.
func (j *journey) reads() {
	for _, o := range reference.Read().Operations {
		of, name, _ := strings.Cut(o.Name, ".")
		service := reflect.ValueOf(j.client).Elem().FieldByName(of)
		if !service.IsValid() || o.Safety != "read" {
			continue
		}
		method := service.MethodByName(name).Type()
		for _, id := range []any{j.from, j.company} {
			if method.NumIn() == 2 && method.In(1) == reflect.TypeOf(id) {
				_, err := harness.Call(j.t.Context(), j.client, o.Name, id)
				j.ok(err)
			}
		}
	}
}

func (j *journey) policy() {
	c := j.client.Policy
	codes, err := c.MerchantCategoryCodesPage(j.t.Context(), prepaid.Paging{})
	j.ok(err)
	j.note("codes %d %v", len(codes.Items), codes.Items[0].Code)
	j.ok(c.ChangeCategories(j.t.Context(), j.company, prepaid.ChangeRulesParams[prepaid.MCC]{Reason: j.text("Reason"), Add: []prepaid.MCC{"7995"}}))
	j.ok(c.ChangeMerchants(j.t.Context(), j.company, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Reason: j.text("Reason"), Add: []prepaid.MerchantRule{
		{AcquirerID: 800000000 + int64(len(j.word)), CardAcceptorID: j.id("Seller"), Description: j.text("Seller")},
	}}))
	j.ok(c.ChangeTerminals(j.t.Context(), j.company, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Reason: j.text("Reason"), Add: []prepaid.TerminalRule{{
		AcquirerID: 700000000 + int64(len(j.word)), CardAcceptorID: j.id("Seller"), TerminalID: j.id("Desk"),
		CardAcceptorNameLocation: j.text("Corner"), Description: j.text("Desk"),
	}}}))
	for _, read := range []func(context.Context, prepaid.CompanyID) (*prepaid.Policy, error){c.Get, c.Categories, c.Merchants, c.Terminals} {
		policy, err := read(j.t.Context(), j.company)
		j.ok(err)
		j.note("policy %v %v %d %d", policy.DefaultAction, policy.Categories, len(policy.Merchants), len(policy.Terminals))
	}
	restrictions, err := c.Restrictions(j.t.Context(), j.company) //nolint:staticcheck // it is an operation
	j.ok(err)
	j.note("restrictions %v %d", restrictions.Type, len(restrictions.TerminalRules))
}

func (j *journey) reports() {
	run, err := j.client.Reporting.Start(j.t.Context(), j.template, prepaid.StartReportParams{IncludeColumnHeaders: true})
	j.ok(err)
	reader, err := j.client.Reporting.Open(j.t.Context(), *run, prepaid.WaitOptions{Interval: time.Millisecond})
	j.ok(err)
	rows := 0
	for row, err := range reader.Rows() {
		j.ok(err)
		if rows == 0 {
			j.note("columns %v", row)
		}
		rows++
	}
	j.ok(reader.Close())
	j.note("report of %d", rows)
}

func (j *journey) pins() {
	started, err := j.client.PIN.Initiate(j.t.Context(), prepaid.InitiatePINParams{
		AccountID: j.from, DeviceID: j.id("Device"), IPAddress: fmt.Sprintf("203.0.113.%d", len(j.word)), CommunicationMethod: "sms",
	})
	j.ok(err)
	var initiated struct {
		OperationID string `json:"operation_id"`
	}
	j.ok(started.Decode(&initiated))
	key, err := prepaid.NewPINKey(j.pin, prepaid.PINKeyOptions{})
	j.ok(err)
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(j.otp(initiated.OperationID)), PIN: prepaid.NewSecret("4921")})
	j.ok(err)
	params := prepaid.SealedPINParams{
		OperationID: initiated.OperationID, DeviceID: j.id("Device"), IPAddress: "2001:db8:1::7", Envelope: envelope,
	}
	for _, step := range []func(context.Context, prepaid.SealedPINParams) (*prepaid.Response, error){
		j.client.PIN.Validate, j.client.PIN.Execute,
	} {
		response, err := step(j.t.Context(), params)
		j.ok(err)
		j.note("pin %d", response.StatusCode)
	}
}

func (j *journey) hooks() {
	c := j.client.Hooks
	secret := sha256.Sum256([]byte(j.word + " hmac"))
	made, err := c.Create(j.t.Context(), prepaid.CreateHookParams{
		URI: j.uri, Scope: []prepaid.CompanyID{j.company}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: j.id("HMAC"),
		HMACKeySecret: prepaid.NewSecret(hex.EncodeToString(secret[:])),
	})
	j.ok(err)
	hook, err := c.Get(j.t.Context(), made)
	j.ok(err)
	require.Equal(j.t, made, hook.ID)
	j.note("hook %v %v %v", hook.FilterSpec, hook.Enabled, hook.ReliabilityMode)
	j.undo()
	messages := collect(j, c.Undeliverable(j.t.Context(), made, prepaid.Paging{}))
	require.NotEmpty(j.t, messages)
	require.Equal(j.t, made, messages[0].HookID)
	j.note("message %v", messages[0].Type)
	j.ok(c.Dismiss(j.t.Context(), made, messages[0].ID))
	j.ok(c.Update(j.t.Context(), made, prepaid.UpdateHookParams{Enabled: new(false), HMACKeyID: j.id("HMAC2"), URI: hook.URI}))
	j.note("hooks %d", len(collect(j, c.List(j.t.Context(), prepaid.Paging{}))))
	j.ok(c.Delete(j.t.Context(), made))
	_, err = c.Get(j.t.Context(), made)
	require.Error(j.t, err)
	j.note("gone %v", prepaid.OutcomeOf(err))
	failure, err := j.client.Accounts.Get(j.t.Context(), prepaid.AccountID(j.id("Nobody")))
	require.Nil(j.t, failure)
	require.ErrorIs(j.t, err, prepaid.ErrNotFound)
}

func collect[T any](j *journey, items iter.Seq2[*T, error]) []*T {
	j.t.Helper()
	all, err := prepaid.Collect(items, 100)
	j.ok(err)
	return all
}
