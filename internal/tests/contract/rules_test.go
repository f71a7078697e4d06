package contract

import (
	"context"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// Rules of the client that no schema of the document has. Each rule has a value that breaks only it, and the nearest legal one.

// limit is one rule: a change of a valid P that breaks it, and a change that just keeps it.
type limit[P any] struct {
	field string // path in Fault.Field
	rule  string // part of Fault.Rule
	shown string // the value that must not be in any text
	bad   func(*P)
	good  func(*P)
}

// requireLimits checks that a bad value sends no request, and that a good value sends one. With Config.SkipValueChecks a
// bad value sends a request too, unless its check is never skipped.
func requireLimits[P any](t *testing.T, operation string, valid func() P, rows []limit[P], before ...any) {
	t.Helper()
	call := func(change func(*P)) func(context.Context, *prepaid.Client) error {
		params := valid()
		change(&params)
		return harness.Calling(operation, append(slices.Clip(before), params)...)
	}
	for i, row := range rows {
		t.Run(fmt.Sprintf("%s %s %d", operation, row.field, i), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fault := harness.Fault{Field: row.field, Rule: row.rule}
				called := sendsNothing(t, call(row.bad))
				requireRefusal(t, called, row.shown, fault)
				requireValidates(t, valid(), row.bad, called)
				sends(t, "legal neighbour", call(row.good))
				if isNeverSkipped(row.field, row.rule) {
					requireRefusal(t, sendsNothingWith(t, skipping(), call(row.bad)), row.shown, fault)
					return
				}
				sendsWith(t, skipping(), "with SkipValueChecks", call(row.bad))
			})
		})
	}
}

// requireValidates checks that Validate of the changed params finds what a call with them finds; the simulator's check accepts more.
func requireValidates[P any](t *testing.T, params P, change func(*P), called error) {
	t.Helper()
	change(&params)
	err := any(params).(interface{ Validate() error }).Validate()
	if _, simulated := any(params).(prepaid.SimulateParams); err == nil && simulated {
		return
	}
	require.Equal(t, harness.As[*prepaid.ValidationError](t, called).Faults, harness.As[*prepaid.ValidationError](t, err).Faults)
}

// Each type of params can be checked without a call.
func TestParamsValidate(t *testing.T) {
	t.Parallel()
	types := 0
	for of := range sample.AllFields() {
		if name, _, _ := strings.Cut(of.Name(), "["); strings.HasSuffix(name, "Params") {
			require.True(t, of.Implements(reflect.TypeFor[interface{ Validate() error }]()), name)
			types++
		}
	}
	require.Greater(t, types, 15)
	for name, p := range map[string]interface{ Validate() error }{
		"program_client_id": prepaid.IssueParams{}, "client_account_key": prepaid.FindCreatedParams{}, "account_id": prepaid.FindMovementParams{},
		"interval": prepaid.RunReportParams{Interval: -1}, "default_action": prepaid.EnsureRulesParams[prepaid.MCC]{},
		"add[0].acquirer_id": prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: make([]prepaid.MerchantRule, 1)},
	} {
		require.Equal(t, name, harness.As[*prepaid.ValidationError](t, p.Validate()).Faults[0].Field)
	}
}

// fields returns a fault of each field, with any rule.
func fields(names ...string) []harness.Fault {
	faults := make([]harness.Fault, len(names))
	for i, name := range names {
		faults[i].Field = name
	}
	return faults
}

// put returns a change that sets one field.
func put[P, T any](at func(*P) *T, value T) func(*P) {
	return func(p *P) { *at(p) = value }
}

// forms are rows for one field, each bad value next to a good one.
func forms[P any, T ~string](field, rule string, at func(*P) *T, pairs ...[2]T) []limit[P] {
	rows := make([]limit[P], 0, len(pairs))
	for _, pair := range pairs {
		rows = append(rows, limit[P]{field: field, rule: rule, shown: string(pair[0]), bad: put(at, pair[0]), good: put(at, pair[1])})
	}
	return rows
}

// params returns the params of an operation with the required members of the document.
func params[P any](t *testing.T, operation string) func() P {
	t.Helper()
	return func() P {
		values, err := sample.NewRequest(reference.Read().Operation(operation), false).Arguments()
		require.NoError(t, err)
		return values[len(values)-1].(P)
	}
}

func TestRulesOfAccounts(t *testing.T) {
	t.Parallel()
	type P = prepaid.CreateAccountParams
	type I = prepaid.IssueParams
	create := params[P](t, "Accounts.Create")
	day := func(year int, month time.Month, day int) prepaid.Date {
		return prepaid.Date{Year: year, Month: month, Day: day}
	}
	passport := func(expiry prepaid.Date) func(*P) {
		return func(p *P) {
			p.Cardholder.Passport = &prepaid.Passport{Number: "N", Expiry: expiry, IssuingCountry: "AUS"}
		}
	}
	birth := func(day prepaid.Date) func(*P) { return func(p *P) { p.Cardholder.DateOfBirth = day } }
	const calendar = "a day of the calendar"
	requireLimits(t, "Accounts.Create", create, []limit[P]{
		{"registration.date_of_birth", calendar, "1973", birth(day(1973, 2, 29)), birth(day(1972, 2, 29))},
		{"registration.passport.passport_expiry", calendar, "2973", passport(day(2973, 4, 31)), passport(day(2973, 4, 30))},
		{
			"account_id_to_replace", "is required", "", func(p *P) { p.RequestType = prepaid.RequestTypeReplace },
			func(p *P) { p.RequestType, p.AccountIDToReplace = prepaid.RequestTypeReplace, "old" },
		},
	})
	issue := func() I {
		account := create()
		account.ClientAccountKey = "key"
		return I{Account: account, ProgramClientID: "client"}
	}
	requireLimits(t, "Accounts.Issue", issue, []limit[I]{ // before it searches
		{"program_client_id", "is required", "", func(p *I) { p.ProgramClientID = "" }, func(p *I) { p.ProgramClientID = "Ж" }},
		{"client_account_key", "is required", "", func(p *I) { p.Account.ClientAccountKey = "" }, func(p *I) { p.Account.ClientAccountKey = "k" }},
		{"initial_load_amount", "below zero", "-9.17", func(p *I) { p.Account.InitialLoadAmount = prepaid.MustAmount("-9.17") }, func(*I) {}},
	})
	requireLimits(t, "Accounts.ProvisionWallet", func() prepaid.ProvisionWalletParams { return prepaid.ProvisionWalletParams{} }, []limit[prepaid.ProvisionWalletParams]{{
		"certificates[1]", "is required", "", func(p *prepaid.ProvisionWalletParams) { p.Certificates = []string{"a", ""} },
		func(p *prepaid.ProvisionWalletParams) { p.Certificates = []string{"\n"} },
	}}, "eaid", "provider")
	requireRefusal(t, sendsNothing(t, harness.Calling("Hooks.Dismiss", "hook", "m", "")), "", fields("message_ids[1]")...)
	requireRefusal(t, sendsNothing(t, harness.Calling("Hooks.Dismiss", "hook")), "", fields("message_ids")...)
	for _, o := range reference.Read().Operations {
		for _, p := range o.Params {
			if r := sample.NewRequest(o, false); p.In == "path" && (o.Section == "4.3" || p.Name == "companyid") {
				r.Path[p.Name] = "0"
				requireRefusal(t, sendsNothing(t, calling(r)), "", harness.Fault{Field: "company", Rule: "is required"})
			}
		}
	}
}

// changed returns the arguments of the smallest request with a changed copy of the params.
func changed(t *testing.T, o *reference.Operation, change func(params reflect.Value)) []any {
	t.Helper()
	values, err := sample.NewRequest(o, false).Arguments()
	require.NoError(t, err)
	params := reflect.New(reflect.TypeOf(values[len(values)-1])).Elem()
	params.Set(reflect.ValueOf(values[len(values)-1]))
	change(params)
	return append(values[:len(values)-1], params.Interface())
}

// Each list takes the groups that its parameters name, and pages from 1; zero is the client's first page.
func TestRulesOfLists(t *testing.T) {
	t.Parallel()
	for _, o := range reference.Read().Operations {
		if !slices.Contains(o.Names(), "page_number") {
			continue
		}
		for _, method := range []string{o.Name, o.Name + "Page"} {
			for _, name := range []string{"Page", "Size", "Prefetch"} {
				values := changed(t, o, func(params reflect.Value) {
					if inner := params.FieldByName("Paging"); inner.IsValid() {
						params = inner
					}
					params.FieldByName(name).SetInt(-977)
				})
				fault := harness.Fault{Field: "paging." + strings.ToLower(name), Rule: "must not be negative"}
				requireRefusal(t, sendsNothing(t, harness.Calling(method, values...)), "-977", fault)
			}
		}
		for _, include := range []prepaid.Include{"", "qzxwv", prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay, prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType} {
			if !slices.Contains(o.Names(), "with_personal") || slices.Contains(o.Names(), string(include)) {
				continue
			}
			values := changed(t, o, func(params reflect.Value) {
				params.FieldByName("Include").Set(reflect.ValueOf([]prepaid.Include{include}))
			})
			requireRefusal(t, sendsNothing(t, harness.Calling(o.Name, values...)), "qzxwv", fields("include[0]")...)
		}
	}
	type P = prepaid.ListTransactionsParams
	none := func() P { return P{} }
	at := time.Date(1973, 5, 4, 0, 0, 0, 0, time.UTC)
	rows := []limit[P]{
		{"before", "must not be set together with to", "1973", func(p *P) { p.To, p.Before = at, at }, func(p *P) { p.From, p.To = at, at }},
		{"to", "must not be before from", "1973", func(p *P) { p.From, p.To = at, at.Add(-1) }, func(p *P) { p.To = at }},
		{"before", "must be after from", "1973", func(p *P) { p.From, p.Before = at, at }, func(p *P) { p.From, p.Before = at, at.Add(1) }},
	}
	requireLimits(t, "Accounts.TransactionsPage", none, rows, "eaid")
	requireLimits(t, "Accounts.Transactions", none, rows, "eaid")
	type S = prepaid.SearchAccountsParams
	requireLimits(t, "Accounts.Search", params[S](t, "Accounts.Search"), forms("client_account_key", "at most 255 printable ASCII characters", // of an account
		func(p *S) *string { return &p.ClientAccountKey }, [2]string{strings.Repeat("q7Z", 85) + "q", strings.Repeat("q7Z", 85)}, [2]string{"q7Zéq7Z", "~ "}))
	type C = prepaid.SearchCompanyParams
	requireLimits(t, "Accounts.SearchCompany", func() C { return C{} },
		forms("status", "must be one of active", func(p *C) *prepaid.AccountStatus { return &p.Status }, [2]prepaid.AccountStatus{"ACTIVE", "expired"}), 7)
}

// An invalid search for a movement or an account sends nothing.
func TestRulesOfLooks(t *testing.T) {
	t.Parallel()
	type P = prepaid.FindMovementParams
	from := time.Date(1973, 5, 4, 0, 0, 0, 0, time.UTC)
	valid := func() P {
		return P{AccountID: "eaid", Amount: prepaid.Cents(1), From: from, To: from, VisibleWithin: 1}
	}
	none := func(*P) {}
	requireLimits(t, "Accounts.FindMovement", valid, []limit[P]{
		{"amount", "is required and must not be zero", "", func(p *P) { p.Amount = prepaid.Amount{} }, func(p *P) { p.Amount = prepaid.Cents(-1) }},
		{"amount", "must be made by", "", func(p *P) { p.Amount = prepaid.Amount{{50, 1}} }, none},
		{"to", "must not be before from", "1973", func(p *P) { p.To = from.Add(-1) }, none},
	})
	requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.FindMovement", P{})), "", fields("account_id", "amount", "from", "to")...)
	for rule, find := range map[string]prepaid.FindCreatedParams{
		"client_account_key is required, or external_account_id and company_id": {},
		"program_client_id is required":                                         {ClientAccountKey: "k"},
		"company_id is required":                                                {ExternalAccountID: "x"},
	} {
		field, text, _ := strings.Cut(rule, " ")
		requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.FindCreated", find)), "", harness.Fault{Field: field, Rule: text})
	}
}

// amountMeant is a row of an amount that is refused unless it is meant.
func amountMeant[P any](rule, amount string, at func(*P) *prepaid.Amount, meant func(*P) *bool) limit[P] {
	return limit[P]{"amount", rule, "9.17", put(at, prepaid.MustAmount(amount)), func(p *P) { *at(p), *meant(p) = prepaid.MustAmount(amount), true }}
}

// sequence is the row of the originating transaction, which may be 0 if that is meant.
func sequence[P any](at func(*P) *int64, meant func(*P) *bool) limit[P] {
	return limit[P]{"originating_transaction", "is required; for zero, set AllowUnusual", "", put(at, 0), func(p *P) { *at(p), *meant(p) = 0, true }}
}

// A transaction id is sent as a JSON number, of any length.
func parentID[P any](at func(*P) *prepaid.TransactionID) []limit[P] {
	return forms("parent_transaction_id", "must be a whole number", at, [][2]prepaid.TransactionID{
		{"9175x", "9175"}, {"917.5", "123456789012345678901234567890"}, {"09175", "0"}, {"+9175", "-1"}, {"9.17e5", "1"}, {" 9175", "7"},
	}...)
}

func TestRulesOfFunding(t *testing.T) {
	t.Parallel()
	const rule = "must be above zero; for another amount, set AllowUnusual"
	type R = prepaid.RedeemFundingParams
	redeemed, redeemMeant := func(p *R) *prepaid.Amount { return &p.Amount }, func(p *R) *bool { return &p.AllowUnusual }
	requireLimits(t, "Funding.Redeem", params[R](t, "Funding.Redeem"), []limit[R]{
		amountMeant(rule, "0", redeemed, redeemMeant), amountMeant(rule, "-9.17", redeemed, redeemMeant),
		sequence(func(p *R) *int64 { return &p.OriginatingTransaction }, redeemMeant),
	})
	type F = prepaid.RefundFundingParams
	refunded, refundMeant := func(p *F) *prepaid.Amount { return &p.Amount }, func(p *F) *bool { return &p.AllowUnusual }
	requireLimits(t, "Funding.Refund", params[F](t, "Funding.Refund"), append(parentID(func(p *F) *prepaid.TransactionID { return &p.ParentTransactionID }),
		amountMeant(rule, "0", refunded, refundMeant), amountMeant(rule, "-9.17", refunded, refundMeant),
		sequence(func(p *F) *int64 { return &p.OriginatingTransaction }, refundMeant),
	))
	type V = prepaid.ReverseFundingParams
	requireLimits(t, "Funding.Reverse", params[V](t, "Funding.Reverse"), append(parentID(func(p *V) *prepaid.TransactionID { return &p.ParentTransactionID }),
		sequence(func(p *V) *int64 { return &p.OriginatingTransaction }, func(p *V) *bool { return &p.AllowUnusual })))
	zero := params[R](t, "Funding.Redeem")()
	zero.Amount, zero.OriginatingTransaction, zero.AllowUnusual = prepaid.Amount{}, 0, true
	sent := sends(t, "zero", harness.Calling("Funding.Redeem", zero)).body
	require.Contains(t, sent, `"amount":0.00,`)
	require.Contains(t, sent, `"originating_transaction":0,`)
	require.NotContains(t, strings.ToLower(sent), "unusual")
}

// Validate reports the same faults as a call.
func TestRulesOfPayments(t *testing.T) {
	t.Parallel()
	transfer, entry := harness.ValidTransfer(), harness.ValidDirectEntry()
	require.NoError(t, transfer.Validate())
	require.NoError(t, entry.Validate())
	for operation, p := range map[string]prepaid.PaymentParams{
		"Accounts.Transfer": prepaid.TransferParams{InitiatorUsername: "\xff"}, "Accounts.DirectEntryOut": prepaid.DirectEntryOutParams{InitiatingUserID: "\xff"},
	} {
		faults := harness.As[*prepaid.ValidationError](t, p.Validate()).Faults
		require.Greater(t, len(faults), 5)
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(p.Validate()))
		called := harness.As[*prepaid.ValidationError](t, sendsNothing(t, harness.Calling(operation, "eaid", p))).Faults
		require.Equal(t, faults, called)
	}
	for _, kind := range []prepaid.TransferType{0, prepaid.TransferTypeLoad, -1, 1 << 30} {
		transfer.Type, transfer.DestinationAccountID = kind, "eaid" // also to itself
		require.Contains(t, sends(t, "transfer", harness.Calling("Accounts.Transfer", "eaid", transfer)).body, fmt.Sprintf(`"transaction_type":%d`, kind))
	}
}

// Section 2.15: each operation of the simulator takes its members only.
func TestRulesOfSimulation(t *testing.T) {
	t.Parallel()
	type P = prepaid.SimulateParams
	texts := map[string]func(*P) *string{
		"bank_name": func(p *P) *string { return &p.BankName }, "location": func(p *P) *string { return &p.Location },
		"location_code": func(p *P) *string { return &p.LocationCode }, "currency_code": func(p *P) *string { return &p.CurrencyCode },
		"authorization_id": func(p *P) *string { return &p.AuthorizationID },
	}
	for _, o := range reference.Read().Operations {
		if o.Section != "4.6" {
			continue
		}
		rows := []limit[P]{amountMeant("is required; for zero, set AllowUnusual", "0",
			func(p *P) *prepaid.Amount { return &p.Amount }, func(p *P) *bool { return &p.AllowUnusual })}
		for name, at := range texts {
			if _, taken := o.Request.JSON().Properties.Get(name); !taken {
				rows = append(rows, forms(name, "is not accepted by this operation", at, [2]string{"q7Zx", ""})...)
			}
		}
		withdrawal := func(mcc prepaid.MCC) func(*P) {
			return func(p *P) { p.Type, p.MerchantCategoryCode = prepaid.SimulatedTypeWithdrawal, mcc }
		}
		if o.Name == "Simulation.Transact" {
			rows = append(rows, limit[P]{"mcc", "is required", "", withdrawal(""), withdrawal("6011")})
		} else {
			sends(t, "a withdrawal without mcc", harness.Calling(o.Name, func() P { p := params[P](t, o.Name)(); withdrawal("")(&p); return p }()))
		}
		requireLimits(t, o.Name, params[P](t, o.Name), rows)
	}
}

func TestRulesOfKeys(t *testing.T) {
	t.Parallel()
	type P = prepaid.SealedPINParams
	requireRefusal(t, sendsNothing(t, harness.Calling("PIN.Validate", P{})), "", fields("operation_id", "device_id", "ip_address", "envelope")...)
	bytes := []byte(strings.Repeat("qZ7x", 8))
	key, err := prepaid.EphemeralKeyFrom(bytes)
	require.NoError(t, err)
	want := string(bytes)
	clear(bytes)
	require.Equal(t, want, string(key.Bytes()), "a copy is kept")
	for _, size := range []int{0, 31, 33, 44} {
		_, err := prepaid.EphemeralKeyFrom([]byte(strings.Repeat("q", size)))
		require.Equal(t, []prepaid.FieldError{{Field: "ephemeral_key", Rule: "must be 32 bytes"}}, harness.As[*prepaid.ValidationError](t, err).Faults)
	}
	var read prepaid.EphemeralKey
	require.NoError(t, read.UnmarshalText([]byte(base64.StdEncoding.EncodeToString(key.Bytes()))))
	require.Equal(t, key.Bytes(), read.Bytes())
	require.True(t, key.Equal(read))
	for _, text := range []string{"", "hunter2!", strings.Repeat("q", 43), base64.StdEncoding.EncodeToString(key.Bytes()) + "!"} {
		require.EqualError(t, read.UnmarshalText([]byte(text)), "prepaid: invalid input: ephemeral_key must be 32 bytes")
		require.Equal(t, key.Bytes(), read.Bytes(), "unchanged")
	}
	require.NotEqual(t, prepaid.NewEphemeralKey().Bytes(), prepaid.NewEphemeralKey().Bytes())
}
