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

// SDK is the import path of the SDK.
const SDK = "github.com/cardprograms/prepaid"

const (
	accounts = "(*" + SDK + ".AccountsService)."
	funding  = "(*" + SDK + ".FundingService)."
	journals = "(*" + SDK + "/journal/journalfile.Journal)."
	store    = "(*" + SDK + "/contrib/postgres.Store)."
)

// The names that the rules know. Function names are as in [types.Func.FullName]. Type names begin with the import path.
const (
	ID       = SDK + ".RequestID"
	Message  = SDK + ".Message"
	Decision = SDK + ".FundingResult"   // the result of calls whose error does not show whether something was done
	Fresh    = SDK + ".NewRequestID"    // makes a new request ID each time
	Derived  = SDK + ".DeriveRequestID" // makes the same request ID from the same data
	Open     = SDK + "/journal/journalfile.Open"
	Done     = "(" + SDK + "/webhook.Claim).Done" // marks the claim of a message as done
	NotMoved = SDK + "/journal.NotMoved"          // records that a payment was not made
)

// packages are the import paths of the SDK. Packages that import none of them, even indirectly, are skipped.
var packages = []string{
	SDK, SDK + "/ratelimit", SDK + "/transport", SDK + "/journal", SDK + "/journal/journalfile", SDK + "/webhook", SDK + "/reconcile", SDK + "/contrib/postgres",
}

// moneyCalls are the money calls of the SDK.
var moneyCalls = map[string]Func{
	accounts + "Transfer":            keyed("Accounts.Transfer", 2),
	accounts + "DirectEntryOut":      keyed("Accounts.DirectEntryOut", 2),
	journals + "Transfer":            keyed("Journal.Transfer", 3),
	journals + "DirectEntryOut":      keyed("Journal.DirectEntryOut", 3),
	"(" + SDK + "/journal.Run).Send": keyed("Run.Send", 2),
	funding + "Redeem":               unkeyed(Unkeyed, "Funding.Redeem", 1),
	funding + "Reverse":              unkeyed(Unkeyed, "Funding.Reverse", 1),
	funding + "Refund":               unkeyed(Unkeyed, "Funding.Refund", 1),
	accounts + "Create":              unkeyed(Creation, "Accounts.Create", 1),
	accounts + "Issue":               unkeyed(Creation, "Accounts.Issue", 1),
	store + "Enqueue":                {Kind: Record, Name: "Store.Enqueue", Params: 3, Key: Source{3, "RequestID"}, Result: None},
	store + "EnqueueBatch":           {Kind: Record, Name: "Store.EnqueueBatch", Params: 2, Key: Source{Param: None}, Err: 1},
	store + "Resolve":                record("Store.Resolve"),
	store + "Retry":                  record("Store.Retry"),
	store + "Withdraw":               record("Store.Withdraw"),
	journals + "Resolve":             record("Journal.Resolve"),
	journals + "Retry":               record("Journal.Retry"),
	journals + "Withdraw":            record("Journal.Withdraw"),
}

// paramTypes maps types of params to money calls. Only money calls take such params. An interface method that takes a
// context and such params, and returns one of resultTypes and an error, is a money call.
var paramTypes = map[string]Func{
	SDK + ".TransferParams":       keyed("", None),
	SDK + ".DirectEntryOutParams": keyed("", None),
	SDK + ".PaymentParams":        keyed("", None),
	SDK + ".RedeemFundingParams":  unkeyed(Unkeyed, "", None),
	SDK + ".ReverseFundingParams": unkeyed(Unkeyed, "", None),
	SDK + ".RefundFundingParams":  unkeyed(Unkeyed, "", None),
	SDK + ".CreateAccountParams":  unkeyed(Creation, "", None),
	SDK + ".IssueParams":          unkeyed(Creation, "", None),
}

var resultTypes = []string{SDK + ".TransferResult", SDK + ".FundingResult", SDK + ".TransactionID", SDK + ".IssueResult"}

func keyed(name string, params int) Func {
	return Func{Kind: Keyed, Name: name, Params: params, Key: Source{params, "RequestID"}, Err: 1}
}

func unkeyed(kind Kind, name string, params int) Func {
	return Func{Kind: kind, Name: name, Params: params, Key: Source{Param: None}, Err: 1}
}

func record(name string) Func {
	return Func{Kind: Record, Name: name, Params: None, Key: Source{Param: None}, Result: None}
}

// Verdict reports whether a field or method of a [Decision] shows whether something was done.
func Verdict(name string) bool { return name == "Outcome" || name == "Approved" }

// Owns reports whether t is a type of the SDK, or a pointer to one.
func Owns(t types.Type) bool {
	name := typeName(t)
	return name != "" && slices.Contains(packages, name[:strings.LastIndex(name, ".")])
}

// OwnsPackage reports whether a package belongs to the SDK.
func OwnsPackage(pkg *types.Package) bool { return pkg != nil && slices.Contains(packages, path(pkg)) }

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
