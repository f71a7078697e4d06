package calls

import (
	"go/types"
	"slices"
	"strings"
)

// Kind is a call's effect on money.
type Kind uint8

const (
	// Keyed moves money under a request ID. The call can be made again with that ID.
	Keyed Kind = 1 + iota
	// Unkeyed moves money without a request ID. A repeat may move the money twice.
	Unkeyed
	// Creation creates an account, perhaps with an initial load. A repeat may create a second account.
	Creation
	// Record stores an order to pay, or a person's decision about a payment. It sends nothing.
	Record
)

// Sends reports whether a call of this kind sends a request to the service.
func (k Kind) Sends() bool { return k != Record }

// None is the index of a parameter or result that does not exist.
const None = -1

// Source is a value in the arguments of a call: the parameter Param (the receiver does not count) or, unless Field is
// empty, the field Field of this parameter. If Param is None, there is no such value.
type Source struct {
	Param int
	Field string
}

// Func is a function that is a money call.
type Func struct {
	Kind Kind
	// Name is for messages, without the package: "Accounts.Transfer".
	Name string
	// Params is the index of the parameter with the params, not counting the receiver, or None.
	Params int
	// Key is the place of the request ID. Param is None if the call has no ID, or if the function makes the ID itself.
	Key Source
	// Err and Result are the indices of the error and of the result returned with it, or None.
	Err, Result int
	// Recorded means that the function itself records the error that it returns.
	Recorded bool
	// Own means that the function makes a new request ID each time.
	Own bool
}

// Model describes an SDK. Function names are as in [types.Func.FullName]. Type names begin with the import path.
type Model struct {
	// Packages are the import paths of the SDK. Packages that import none of them, even indirectly, are skipped.
	Packages []string
	// Money are the money calls of the SDK.
	Money map[string]Func
	// Params maps types of params to money calls. Only money calls take such params. An interface method that takes a
	// context and such params, and returns one of Results and an error, is a money call.
	Params  map[string]Func
	Results []string
	// Verdicts are the result types that programs must check, because a result may report that nothing was done. The
	// values are the fields and methods that show whether something was done.
	Verdicts map[string][]string
	// Fresh are functions that make a new request ID each time.
	Fresh []string
	// Derived are functions that make the same request ID from the same data.
	Derived []string
	// ID is the type of a request ID.
	ID string
	// Opens are functions that open a journal.
	Opens []string
	// Done is the method that marks the claim of a message as done.
	Done string
	// NotMoved is the function that records that a payment was not made.
	NotMoved string
	// Message is the type of a webhook message.
	Message string
	// Guide is the address of the page that explains each rule under its name.
	Guide string
}

const sdk = "github.com/cardprograms/prepaid"

// Prepaid is the model of this SDK.
func Prepaid() *Model {
	const (
		accounts = "(*" + sdk + ".AccountsService)."
		funding  = "(*" + sdk + ".FundingService)."
		journals = "(*" + sdk + "/journal/journalfile.Journal)."
		store    = "(*" + sdk + "/contrib/postgres.Store)."
	)
	keyed := func(name string, params int) Func {
		return Func{Kind: Keyed, Name: name, Params: params, Key: Source{params, "RequestID"}, Err: 1, Result: 0}
	}
	unkeyed := func(kind Kind, name string, params int) Func {
		return Func{Kind: kind, Name: name, Params: params, Key: Source{None, ""}, Err: 1, Result: 0}
	}
	record := func(name string, params int) Func {
		return Func{Kind: Record, Name: name, Params: params, Key: Source{None, ""}, Err: 0, Result: None}
	}
	ordered := record("Store.Enqueue", 3)
	ordered.Key = Source{3, "RequestID"}
	batch := record("Store.EnqueueBatch", 2)
	batch.Err, batch.Result = 1, 0
	return &Model{
		Packages: []string{
			sdk, sdk + "/ratelimit", sdk + "/transport", sdk + "/journal", sdk + "/journal/journalfile", sdk + "/webhook", sdk + "/reconcile", sdk + "/contrib/postgres",
		},
		Money: map[string]Func{
			accounts + "Transfer":            keyed("Accounts.Transfer", 2),
			accounts + "DirectEntryOut":      keyed("Accounts.DirectEntryOut", 2),
			journals + "Transfer":            keyed("Journal.Transfer", 3),
			journals + "DirectEntryOut":      keyed("Journal.DirectEntryOut", 3),
			"(" + sdk + "/journal.Run).Send": keyed("Run.Send", 2),
			funding + "Redeem":               unkeyed(Unkeyed, "Funding.Redeem", 1),
			funding + "Reverse":              unkeyed(Unkeyed, "Funding.Reverse", 1),
			funding + "Refund":               unkeyed(Unkeyed, "Funding.Refund", 1),
			accounts + "Create":              unkeyed(Creation, "Accounts.Create", 1),
			accounts + "Issue":               unkeyed(Creation, "Accounts.Issue", 1),
			store + "Enqueue":                ordered,
			store + "EnqueueBatch":           batch,
			store + "Resolve":                record("Store.Resolve", None),
			store + "Retry":                  record("Store.Retry", None),
			store + "Withdraw":               record("Store.Withdraw", None),
			journals + "Resolve":             record("Journal.Resolve", None),
			journals + "Retry":               record("Journal.Retry", None),
			journals + "Withdraw":            record("Journal.Withdraw", None),
		},
		Params: map[string]Func{
			sdk + ".TransferParams":       keyed("", None),
			sdk + ".DirectEntryOutParams": keyed("", None),
			sdk + ".PaymentParams":        keyed("", None),
			sdk + ".RedeemFundingParams":  unkeyed(Unkeyed, "", None),
			sdk + ".ReverseFundingParams": unkeyed(Unkeyed, "", None),
			sdk + ".RefundFundingParams":  unkeyed(Unkeyed, "", None),
			sdk + ".CreateAccountParams":  unkeyed(Creation, "", None),
			sdk + ".IssueParams":          unkeyed(Creation, "", None),
		},
		Results:  []string{sdk + ".TransferResult", sdk + ".FundingResult", sdk + ".TransactionID", sdk + ".Issued"},
		Verdicts: map[string][]string{sdk + ".FundingResult": {"Outcome", "Approved"}},
		Fresh:    []string{sdk + ".NewRequestID"},
		Derived:  []string{sdk + ".DeriveRequestID"},
		ID:       sdk + ".RequestID",
		Opens:    []string{sdk + "/journal/journalfile.Open"},
		Done:     "(" + sdk + "/webhook.Claim).Done",
		NotMoved: sdk + "/journal.NotMoved",
		Message:  sdk + ".Message",
		Guide:    "https://github.com/cardprograms/prepaid/blob/main/contrib/vet/README.md",
	}
}

// VerdictsOf returns a result's fields and methods that show whether something was done, nil if an error shows it.
func (m *Model) VerdictsOf(t types.Type) []string { return m.Verdicts[typeName(t)] }

// Owns reports whether t is a type of the SDK, or a pointer to one.
func (m *Model) Owns(t types.Type) bool {
	name := typeName(t)
	return name != "" && slices.Contains(m.Packages, name[:strings.LastIndex(name, ".")])
}

// OwnsPackage reports whether a package belongs to the SDK.
func (m *Model) OwnsPackage(pkg *types.Package) bool {
	return pkg != nil && slices.Contains(m.Packages, path(pkg))
}

// typeName returns the name of t, or of the type it points to, with the import path; "" if it has no name.
func typeName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return path(named.Obj().Pkg()) + "." + named.Obj().Name()
}

// path is the import path of a package without the suffix that the go command adds for variants built for tests.
func path(pkg *types.Package) string {
	before, _, _ := strings.Cut(pkg.Path(), " ")
	return before
}

// Named reports whether t is the type with this name, or a pointer to it.
func Named(t types.Type, name string) bool { return name != "" && typeName(t) == name }
