package gotest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// FillIn replaces personal data and masked values by fictional ones, so that the SDK can read the body.
func FillIn(body string) []byte {
	members, err := personal.Decode(body)
	if err != nil {
		return []byte(body)
	}
	filled, _ := json.Marshal(personal.Replace(members, func(name string, value any) (any, bool) { // decoded JSON
		text, isText := value.(string)
		known, named := fictional()[name]
		switch {
		case named:
			return known, true
		case text == "[REDACTED]":
			return "fictional", true
		case !personal.Hidden(name) || isText && text == "":
			return nil, false
		case isText:
			return "Fictional", true
		}
		return nil, true
	}))
	return filled
}

// fictional returns values for the members that the SDK checks.
func fictional() map[string]any {
	return map[string]any{
		"hmac_key_secret": strings.Repeat("0123456789abcdef", 4), "ephemeral_key": strings.Repeat("A", 43) + "=", "certificates": []string{"fictional"},
		"destination_account_info": map[string]string{"bsb": "062000", "account_number": "12345678", "account_name": "Fictional Payee"},
		"name_on_card":             "FICTIONAL CARD", "ip_address": "192.0.2.1",
		"registration": map[string]any{
			"first_name": "Fictional", "last_name": "Cardholder", "date_of_birth": "1990-05-01T00:00:00Z", "mobile_number": "+61491570156",
			"email_address": "fictional@example.com", "sex": "F", "primary_address": map[string]string{"state": "NSW", "country": "AU"},
		},
	}
}

// prepare finds the state that the call needs, and the earlier steps that the call builds on.
func (w *writer) prepare() {
	switch {
	case strings.HasPrefix(w.request.Template, "/hooks"):
		w.prepareHook()
		if uri := w.field("URI"); uri.IsValid() && uri.String() != "" && len(w.options) > 0 { // the test has its own receiver
			uri.SetString(w.expression("receiver.URL"))
		}
	case strings.HasPrefix(w.request.Template, "/reporting/"):
		w.prepareReport()
	case w.sealed():
		w.preparePIN()
	}
	w.seedNamed()
	switch {
	case w.request.Template == "/funding/reversals" && w.succeeded():
		w.before = append(w.before, "redeemed, err := client.Funding.Redeem(t.Context(), "+literal(reflect.ValueOf(prepaid.RedeemFundingParams{
			Amount: prepaid.MustAmount("1.00"), AccountID: w.request.AccountID, Exception: "no_exception", MerchantNameLocation: "EXAMPLE SHOP SYDNEY AU",
			OriginatingTransaction: w.field("OriginatingTransaction").Int(), Currency: "036", CardAcceptorID: "EXAMPLE00000001", CorrelationID: w.field("CorrelationID").String(),
			MerchantCategoryCode: "5411", TerminalID: "EX000001", AcquirerID: "400001",
		}))+")", failOn)
		w.field("ParentTransactionID").SetString(w.expression("redeemed.TransactionID"))
	case w.field("AuthorizationID").IsValid() && w.field("AuthorizationID").String() != "" && w.request.Template != "/simulation/transact" && w.succeeded():
		w.prepareAuthorization()
	case w.request.Replayed && !w.paidEarlier():
		// Another client makes the earlier payment, because another program may have made it.
		w.before = append(w.before, "// The payment was made before, with the same request ID.",
			"if _, err := "+w.call.text("server.Client()")+"; err != nil { t.Fatal(err) }")
	}
}

const failOn = "if err != nil { t.Fatal(err) }"

// prepareAuthorization makes the purchase that the request refers to.
func (w *writer) prepareAuthorization() {
	params, _ := w.call.arguments[0].Interface().(prepaid.SimulateParams) // every call with this field has these params
	params.AuthorizationID = ""
	params.BankName, params.Location, params.LocationCode, params.CurrencyCode = "Example Bank", "Sydney", "NSW", "AUD"
	w.before = append(w.before, "authorised, err := client.Simulation.Transact(t.Context(), "+literal(reflect.ValueOf(params))+")", failOn)
	w.field("AuthorizationID").SetString(w.expression("authorised.AuthorizationID"))
}

// prepareHook registers a webhook with a receiver. If the request is about a message, the hook gets an undeliverable message.
func (w *writer) prepareHook() {
	uri, named := w.field("URI"), len(w.call.arguments) > 0 && w.call.arguments[0].Kind() == reflect.String
	if w.succeeded() && (named || uri.IsValid() && uri.String() != "") {
		add(&w.options, "receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))", "defer receiver.Close()",
			"roots := x509.NewCertPool()", "roots.AddCert(receiver.Certificate())")
	}
	if !w.succeeded() || !named {
		return
	}
	hook := prepaid.CreateHookParams{
		URI: w.expression("receiver.URL"), Scope: []prepaid.CompanyID{prepaidtest.DefaultCompany}, FilterSpec: "*", Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "key-1", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0123456789abcdef", 4)),
	}
	w.before = append(w.before, "hook, err := client.Hooks.Create(t.Context(), "+literal(reflect.ValueOf(hook))+")", failOn)
	w.call.arguments[0] = reflect.ValueOf(w.expression("hook")).Convert(w.call.arguments[0].Type())
	if !strings.Contains(w.request.Template, "/undeliverable") {
		return
	}
	w.before = append(w.before, "// One message stays undelivered.", "server.InjectDelivery(hook, prepaidtest.LoseResponse())",
		"server.Adjust(server.AddAccount(prepaidtest.SeedAccount{}), \"1.00\")", "if err := server.WaitIdle(t.Context()); err != nil { t.Fatal(err) }")
	if len(w.call.arguments) > 1 && w.call.arguments[1].Kind() == reflect.String {
		kind := w.call.arguments[1].Type()
		id := "server.Hooks()[len(server.Hooks())-1].Undeliverable[0].ID"
		if kind.PkgPath() != "" {
			id = typeName(kind) + "(" + id + ")"
		}
		w.call.arguments = append(w.call.arguments[:1], reflect.ValueOf(w.expression(id)).Convert(kind))
	}
}

// prepareReport adds the template, and starts the run whose result was requested.
func (w *writer) prepareReport() {
	template := pathValues(w.request)[0]
	if w.succeeded() {
		add(&w.seeds, fmt.Sprintf("server.AddReportCSV(%q, \"id,amount\\n1,2.50\\n\")", template))
	}
	if strings.HasSuffix(w.request.Template, "/reports/{reportid}") && w.succeeded() {
		w.before = append(w.before, fmt.Sprintf("run, err := client.Reporting.Start(t.Context(), %q, prepaid.StartReportParams{})", template), failOn)
		w.call.asText = "client.Reporting.Result(t.Context(), *run)"
	}
}

// sealed reports whether the request has a sealed PIN (masked in the log) and all other needed members.
func (w *writer) sealed() bool {
	operation, device, address := w.field("OperationID"), w.field("DeviceID"), w.field("IPAddress")
	return w.field("Envelope").IsValid() && operation.String() != "" && device.String() != "" && address.String() != ""
}

// preparePIN begins the PIN change, as the cardholder does, and seals a fictional PIN.
func (w *writer) preparePIN() {
	account := fmt.Sprintf("EA-PIN-%d", w.request.Number)
	initiate := prepaid.InitiatePINParams{
		AccountID: prepaid.AccountID(account), DeviceID: w.field("DeviceID").String(), IPAddress: w.field("IPAddress").String(), CommunicationMethod: "sms",
	}
	add(&w.seeds, fmt.Sprintf("server.AddAccount(prepaidtest.SeedAccount{ID: %q})", account))
	w.before = append(w.before, "if _, err := client.PIN.Initiate(t.Context(), "+literal(reflect.ValueOf(initiate))+"); err != nil { t.Fatal(err) }",
		fmt.Sprintf("change := server.PINChanges(%q)[0] // as on the cardholder's phone", account), "key, err := prepaid.NewPINKey(server.PINCertificate(), prepaid.PINKeyOptions{})", failOn,
		`envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(change.OTP), PIN: prepaid.NewSecret("4921")})`, failOn)
	w.call.asText = fmt.Sprintf("client.%s(t.Context(), prepaid.SealedPINParams{OperationID: change.OperationID, DeviceID: %q, IPAddress: %q, Envelope: envelope})",
		w.call.method, w.field("DeviceID").String(), w.field("IPAddress").String())
}

// seedNamed adds the accounts and companies that the call names, if the emulator has them.
func (w *writer) seedNamed() {
	var accounts []prepaid.AccountID
	companies := make(map[prepaid.CompanyID]bool)
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		switch {
		case v.Type() == reflect.TypeFor[prepaid.AccountID]():
			accounts = append(accounts, prepaid.AccountID(v.String()))
		case v.Type() == reflect.TypeFor[prepaid.CompanyID]():
			companies[prepaid.CompanyID(v.Int())] = true
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					visit(v.Field(i))
				}
			}
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i))
			}
		}
	}
	for _, argument := range w.call.arguments {
		visit(argument)
	}
	known := w.server.AccountIDs()
	accounts = append(accounts, w.searched(known, companies)...)
	var seeds []string
	for _, id := range accounts {
		if id == "" || w.seeded[id] || !slices.Contains(known, id) {
			continue
		}
		w.seeded[id] = true
		state := w.server.Account(id)
		companies[state.CompanyID] = true
		seeds = append(seeds, w.seedAccount(state)...)
	}
	for _, company := range w.server.Companies() {
		if companies[company.ID] && (company.ID != prepaidtest.DefaultCompany || company.ClientID != prepaidtest.DefaultProgramClientID || company.Loop == prepaidtest.ClosedLoop) {
			add(&w.seeds, "server.AddCompany("+literal(reflect.ValueOf(company))+")")
		}
	}
	w.seeds = append(w.seeds, seeds...)
}

// maxSearched bounds the accounts that are seeded for a search.
const maxSearched = 3

// searched returns accounts that the call's search finds.
func (w *writer) searched(known []prepaid.AccountID, companies map[prepaid.CompanyID]bool) []prepaid.AccountID {
	key := w.field("ClientAccountKey")
	if w.request.Method != http.MethodGet || (!key.IsValid() && len(companies) == 0) {
		return nil
	}
	var found []prepaid.AccountID
	for _, id := range known {
		state := w.server.Account(id)
		if len(found) < maxSearched && (key.IsValid() && state.Key == key.String() || !key.IsValid() && companies[state.CompanyID]) {
			found = append(found, id)
		}
	}
	return found
}

// found returns the test's first request about an account. If plenty is true, the account needs more than its
// balance at that request: money arrived between the requests, or the test makes an earlier payment again.
func (s *story) found(id prepaid.AccountID) (first *prepaidtest.Request, plenty bool) {
	var before prepaid.Amount
	for i, r := range s.requests {
		if r.AccountID != id {
			continue
		}
		balance, _ := prepaid.ParseAmount(r.AccountBalance) // zero without an account
		plenty = plenty || (first != nil && balance.Compare(before) > 0) || (r.Replayed && !(&writer{request: r, earlier: s.requests[:i]}).paidEarlier())
		before = balance
		if first == nil {
			first = &s.requests[i]
		}
	}
	return first, plenty
}

// seedAccount returns code for an account in its state before the first request about it; without such a request, in its present state.
func (w *writer) seedAccount(state prepaidtest.AccountState) []string {
	first, plenty := w.found(state.ID)
	switch {
	case first != nil && first.AccountStatus == "": // the account did not exist
		return nil
	case first != nil:
		state.Status, state.Balance = first.AccountStatus, first.AccountBalance
	case w.plainSuccess():
		state.Status = "active" // the status may have changed since
	}
	seed := prepaidtest.SeedAccount{ID: state.ID, Key: state.Key, PlasticDisabled: !state.PlasticEnabled}
	if state.CompanyID != prepaidtest.DefaultCompany {
		seed.CompanyID = state.CompanyID
	}
	if state.Status != "active" {
		seed.Status = state.Status
	}
	if state.AccountType == "ledger" {
		seed.AccountType = state.AccountType
	}
	var after []string
	switch {
	case strings.HasPrefix(state.Balance, "-"):
		after = []string{fmt.Sprintf("server.Adjust(%q, %q)", state.ID, state.Balance)}
	case strings.Trim(state.Balance, "0.") == "":
	case plenty:
		seed.Balance = "1000000.00"
	default:
		seed.Balance = state.Balance
	}
	if len(state.WalletTokens) > 0 {
		after = append(after, fmt.Sprintf("server.AddWalletToken(%q, prepaidtest.WalletToken{})", state.ID))
	}
	return append([]string{"server.AddAccount(" + literal(reflect.ValueOf(seed)) + ")"}, after...)
}
