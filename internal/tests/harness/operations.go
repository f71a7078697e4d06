package harness

import (
	"context"
	"reflect"
	"strings"

	"github.com/cardprograms/prepaid"
)

// Op is one operation and its successful response.
type Op struct {
	Name      string
	Path      string
	Account   prepaid.AccountID
	RequestID prepaid.RequestID
	Status    int
	MediaType string
	Body      string
	Call      func(ctx context.Context, c *prepaid.Client) error
}

// Call calls the Go method of an operation with values of its parameters' types, or constants that can be converted to these. The
// result is that of the method, the values of its iterator, or its error if it has no other.
func Call(ctx context.Context, c *prepaid.Client, operation string, values ...any) (any, error) {
	service, name, _ := strings.Cut(operation, ".")
	method := reflect.ValueOf(c).Elem().FieldByName(service).MethodByName(name)
	kind := method.Type()
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for i, value := range values {
		of := kind.In(min(i+1, kind.NumIn()-1))
		if kind.IsVariadic() && i+2 >= kind.NumIn() {
			of = of.Elem()
		}
		in = append(in, reflect.ValueOf(value).Convert(of))
	}
	out := method.Call(in)
	if out[0].Kind() == reflect.Func {
		var items []any
		for item, failure := range out[0].Seq2() {
			if err, failed := failure.Interface().(error); failed {
				return nil, err
			}
			items = append(items, item.Interface())
		}
		return items, nil
	}
	err, _ := out[len(out)-1].Interface().(error)
	return out[0].Interface(), err
}

// Calling returns a call of the Go method of an operation; see Call.
func Calling(operation string, values ...any) func(context.Context, *prepaid.Client) error {
	return func(ctx context.Context, c *prepaid.Client) error {
		_, err := Call(ctx, c, operation, values...)
		return err
	}
}

func OpGet() Op {
	return Op{
		Name: "Accounts.Get", Path: "/3.0/accounts/acc-1", Account: "acc-1", Status: 200, MediaType: VendorJSON, Body: AccountJSON,
		Call: Calling("Accounts.Get", "acc-1"),
	}
}

func OpPlastic() Op {
	return Op{
		Name: "Accounts.SetPlasticEnabled", Path: "/3.0/accounts/acc-1/plastic", Account: "acc-1", Status: 200,
		Call: Calling("Accounts.SetPlasticEnabled", "acc-1", prepaid.SetPlasticEnabledParams{}),
	}
}

func OpTransfer() Op {
	return Op{
		Name: "Accounts.Transfer", Path: "/3.0/accounts/acc-1/transfer", Account: "acc-1", RequestID: "pay-1",
		Status: 200, MediaType: VendorJSON, Body: TransferJSON,
		Call: Calling("Accounts.Transfer", "acc-1", prepaid.TransferParams{
			RequestID: "pay-1", Amount: prepaid.MustAmount("25.50"), SourceReference: "out", DestinationReference: "in",
			DestinationAccountID: "acc-2",
		}),
	}
}

func OpCreate() Op {
	return Op{
		Name: "Accounts.Create", Path: "/3.0/accounts", Status: 201, MediaType: VendorJSON, Body: SummaryJSON,
		Call: Calling("Accounts.Create", NewCardParams()),
	}
}

func OpRedeem() Op {
	return Op{
		Name: "Funding.Redeem", Path: "/3.0/funding/redemptions", Account: "acc-1", Status: 200, MediaType: VendorJSON,
		Body: `{"outcome":"approved","transaction_id":9}`,
		Call: Calling("Funding.Redeem", prepaid.RedeemFundingParams{
			Amount: prepaid.MustAmount("5"), AccountID: "acc-1", Exception: prepaid.FundingExceptionNone,
			MerchantNameLocation: "SHOP SYDNEY", OriginatingTransaction: 4, Currency: "036", CardAcceptorID: "m-1",
			CorrelationID: "mine-1", MerchantCategoryCode: "5411", TerminalID: "t-1", AcquirerID: "a-1",
		}),
	}
}

func OpStart() Op {
	return Op{
		Name: "Reporting.Start", Path: "/3.0/reporting/templates/daily", Status: 200, MediaType: OctetStream, Body: "run-1",
		Call: Calling("Reporting.Start", "daily", prepaid.RunReportParams{}),
	}
}

func OpActivate() Op {
	return Op{
		Name: "Accounts.SetStatus", Path: "/3.0/accounts/acc-1/status", Account: "acc-1", Status: 200,
		Call: Calling("Accounts.SetStatus", "acc-1", prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}),
	}
}

// Ops returns one operation of each of the classes read, repeated and keyed, and four operations that are never repeated.
func Ops() []Op {
	return []Op{OpGet(), OpPlastic(), OpTransfer(), OpCreate(), OpRedeem(), OpStart(), OpActivate()}
}

func NewCardParams() prepaid.CreateAccountParams {
	return prepaid.CreateAccountParams{
		CompanyID: 7, ClientAccountKey: "emp-7",
		Cardholder: &prepaid.Cardholder{
			FirstName: "Ada", LastName: "Lovelace",
			PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			DateOfBirth:    prepaid.Date{Year: 1990, Month: 5, Day: 17},
		},
	}
}
