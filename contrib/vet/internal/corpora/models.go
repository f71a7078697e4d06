package main

import (
	"strings"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

const guide = "https://github.com/cardprograms/prepaid/blob/main/contrib/vet/README.md"

// payments is the model of payment SDKs, of SDKs that create other resources once, and of the interfaces that programs use instead.
func payments() *calls.Model {
	m := &calls.Model{
		Money: map[string]calls.Func{}, Params: map[string]calls.Func{}, Verdicts: map[string][]string{}, Guide: guide,
		Verbs: []string{"Transfer", "Pay", "Send", "Refund", "Charge", "Submit", "Initiate"},
	}
	for _, version := range []string{"v80", "v81", "v82"} {
		stripe(m, "github.com/stripe/stripe-go/"+version)
	}
	// An interface of storj has the methods of the services of stripe-go.
	const storj = "storj.io/storj/satellite/payments/stripe."
	for _, name := range []string{"PaymentIntents.New", "Invoices.New", "Invoices.Pay", "Invoices.FinalizeInvoice", "InvoiceItems.New", "CustomerBalanceTransactions.New", "CreditNotes.New"} {
		of, method, _ := strings.Cut(name, ".")
		m.Money["("+storj+of+")."+method] = stripeCall(of+"."+method, strings.Count(method, "Invoice")+strings.Count(method, "Pay"))
	}
	m.Packages = append(m.Packages, "storj.io/storj/satellite/payments/stripe")

	// Transfers and payouts of a connector of formance, under a key that is a parameter.
	const increase = "github.com/formancehq/payments/ce/plugins/increase/client"
	for _, name := range []string{"InitiateTransfer", "InitiateACHTransferPayout", "InitiateRTPTransferPayout", "InitiateCheckTransferPayout", "InitiateWireTransferPayout", "CreateBankAccount"} {
		m.Money["("+increase+".Client)."+name] = calls.Func{Kind: calls.Keyed, Name: name, Params: 1, Key: calls.Source{Param: 2}, Err: 1, Result: 0}
	}
	// The other connectors of formance send everything, even reads, through one interface.
	const wrapper = "github.com/formancehq/payments/pkg/domain/httpwrapper"
	do := unkeyed("Client.Do", 1)
	do.Result = calls.None // a status
	m.Money["("+wrapper+".Client).Do"] = do
	m.Packages = append(m.Packages, increase, wrapper)

	const mercado = "github.com/mercadopago/sdk-go/pkg/"
	for _, name := range []string{"payment.Create", "payment.Capture", "payment.CaptureAmount", "payment.Cancel", "refund.Create", "refund.CreatePartialRefund", "order.Create", "order.Process", "order.Capture", "order.Refund", "order.CreateTransaction"} {
		pkg, method, _ := strings.Cut(name, ".")
		m.Money["("+mercado+pkg+".Client)."+method] = unkeyed(name, 1)
	}
	for _, pkg := range []string{"payment", "refund", "order"} {
		m.Packages = append(m.Packages, mercado+pkg)
		m.Clients = append(m.Clients, mercado+pkg+".NewClient")
	}
	m.Packages = append(m.Packages, mercado+"config")

	const paypal = "github.com/plutov/paypal/v4"
	for name, key := range map[string]int{
		"CreateOrder": calls.None, "CaptureOrder": calls.None, "AuthorizeOrder": calls.None, "RefundCapture": calls.None, "CreatePayout": calls.None,
		"CreateSinglePayout": calls.None, "RefundSale": calls.None, "CaptureAuthorization": calls.None,
		"CreateOrderWithPaypalRequestID": 5, "CaptureOrderWithPaypalRequestId": 3, "RefundCaptureWithPaypalRequestId": 3, "CaptureAuthorizationWithPaypalRequestId": 3,
	} {
		call := unkeyed("Client."+name, 1)
		if key != calls.None {
			call.Kind, call.Key = calls.Keyed, calls.Source{Param: key}
		}
		m.Money["(*"+paypal+".Client)."+name] = call
	}
	m.Packages = append(m.Packages, paypal)
	m.Clients = append(m.Clients, paypal+".NewClient")
	m.Reveal = append(m.Reveal, "(*"+paypal+".Client).GetAccessToken")

	// The errors of midtrans are structs, so the rule "outcome" finds only dropped errors.
	const midtrans = "github.com/midtrans/midtrans-go"
	for _, name := range []string{"coreapi.ChargeTransaction", "coreapi.CaptureTransaction", "coreapi.RefundTransaction", "coreapi.CancelTransaction", "iris.CreatePayout", "iris.ApprovePayout"} {
		pkg, method, _ := strings.Cut(name, ".")
		m.Money["("+midtrans+"/"+pkg+".Client)."+method] = unkeyed(name, 0)
	}
	m.Packages = append(m.Packages, midtrans, midtrans+"/coreapi", midtrans+"/iris")

	// Amounts are decimal numbers in some programs.
	m.Packages = append(m.Packages, "github.com/shopspring/decimal")
	m.Amount = "github.com/shopspring/decimal.Decimal"

	// Transactions of stellar have a sequence number, so they can be sent again.
	const stellar = "github.com/stellar/go/clients/horizonclient"
	for _, name := range []string{"SubmitTransaction", "SubmitTransactionWithOptions", "SubmitTransactionXDR", "SubmitFeeBumpTransaction", "SubmitFeeBumpTransactionWithOptions", "AsyncSubmitTransaction", "AsyncSubmitTransactionXDR", "Fund"} {
		m.Money["(*"+stellar+".Client)."+name] = unkeyed("Client."+name, 0)
		m.Money["("+stellar+".ClientInterface)."+name] = unkeyed("Client."+name, 0)
	}
	m.Packages = append(m.Packages, stellar)

	// Resources that are created once, in a service without money, and lists that are iterators.
	for _, version := range []string{"v84", "v88"} {
		github := "github.com/google/go-github/" + version + "/github"
		m.Packages = append(m.Packages, github)
		m.Clients = append(m.Clients, github+".NewClient", github+".NewClientWithEnvProxy", github+".NewTokenClient", github+".NewEnterpriseClient")
		for name, params := range map[string]int{"Issues.Create": 3, "Issues.CreateComment": 4, "PullRequests.Create": 3, "Repositories.CreateRelease": 3, "Repositories.Create": 2, "Git.CreateRef": 3, "Git.CreateCommit": 3, "Gists.Create": 1} {
			service, method, _ := strings.Cut(name, ".")
			m.Money["(*"+github+"."+service+"Service)."+method] = calls.Func{
				Kind: calls.Creation, Name: name, Params: params, Key: calls.Source{Param: calls.None}, Err: 2, Result: 0,
			}
		}
	}
	return m
}

// stripe adds a version of stripe-go.
func stripe(m *calls.Model, root string) {
	packages := map[string][]string{
		"paymentintent": {"New", "Confirm", "Capture", "Cancel"}, "charge": {"New", "Capture"}, "invoice": {"New", "Pay", "FinalizeInvoice"},
		"invoiceitem": {"New"}, "refund": {"New"}, "transfer": {"New"}, "transferreversal": {"New"}, "payout": {"New", "Cancel", "Reverse"},
		"topup": {"New"}, "customerbalancetransaction": {"New"}, "creditnote": {"New"}, "subscription": {"New"},
	}
	for pkg, names := range packages {
		path := root + "/" + pkg
		m.Packages = append(m.Packages, path)
		for _, name := range names {
			params := 0
			if name != "New" {
				params = 1
			}
			m.Money[path+"."+name] = stripeCall(pkg+"."+name, params)
			m.Money["("+path+".Client)."+name] = stripeCall(pkg+"."+name, params)
		}
	}
	for service, names := range map[string][]string{ // of stripe.Client
		"PaymentIntent": {"Create", "Confirm", "Capture"}, "Charge": {"Create", "Capture"}, "Invoice": {"Create", "Pay"}, "InvoiceItem": {"Create"},
		"Refund": {"Create"}, "Transfer": {"Create"}, "Payout": {"Create", "Reverse"},
	} {
		for _, name := range names {
			params := 1
			if name != "Create" {
				params = 2
			}
			m.Money["("+root+".v1"+service+"Service)."+name] = stripeCall(service+"."+name, params)
		}
		m.Params[root+"."+service+"CreateParams"] = stripeCall("", calls.None)
	}
	for _, params := range []string{"PaymentIntentParams", "ChargeParams", "RefundParams", "TransferParams", "PayoutParams", "InvoicePayParams"} {
		m.Params[root+"."+params] = stripeCall("", calls.None)
	}
	for _, result := range []string{"PaymentIntent", "Charge", "Refund", "Transfer", "Payout", "Invoice"} {
		m.Results = append(m.Results, root+"."+result)
	}
	// A charge that is declined later is not an error.
	m.Verdicts[root+".Payout"] = []string{"Status", "FailureCode", "ID"}
	m.Packages = append(m.Packages, root, root+"/client")
	m.Clients = append(m.Clients, root+"/client.New", root+".NewClient")
	m.Fresh = append(m.Fresh, root+".NewIdempotencyKey")
}

func stripeCall(name string, params int) calls.Func {
	return calls.Func{Kind: calls.Keyed, Name: name, Params: params, Key: calls.Source{Param: params, Field: "Params.IdempotencyKey"}, Err: 1, Result: 0}
}

func unkeyed(name string, params int) calls.Func {
	return calls.Func{Kind: calls.Unkeyed, Name: name, Params: params, Key: calls.Source{Param: calls.None}, Err: 1, Result: 0}
}

// plain is the model of package net/http: each request is a payment, even if it only reads.
func plain() *calls.Model {
	return &calls.Model{
		Packages: []string{"net/http", "net/url", "github.com/rclone/rclone/fs/config/obscure"},
		Money: map[string]calls.Func{
			"(*net/http.Client).Do":       unkeyed("Client.Do", 0),
			"(*net/http.Client).Post":     unkeyed("Client.Post", 2),
			"(*net/http.Client).PostForm": unkeyed("Client.PostForm", 1),
			"net/http.Post":               unkeyed("http.Post", 2),
			"net/http.PostForm":           unkeyed("http.PostForm", 1),
		},
		// The texts of secrets in URLs and in rclone's configuration.
		Reveal: []string{"(*net/url.Userinfo).Password", "github.com/rclone/rclone/fs/config/obscure.MustReveal", "github.com/rclone/rclone/fs/config/obscure.Reveal"},
		Guide:  guide,
	}
}
