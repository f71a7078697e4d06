package main

import (
	"strings"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

const guide = "https://github.com/cardprograms/prepaid/blob/main/contrib/vet/README.md"

// payments is the model of payment SDKs.
func payments() *calls.Model {
	m := &calls.Model{
		Money: map[string]calls.Func{}, Params: map[string]calls.Func{}, Verdicts: map[string][]string{}, Guide: guide,
		Verbs: []string{"Transfer", "Pay", "Send", "Refund", "Charge", "Submit", "Initiate"},
	}
	for _, version := range []string{"v80", "v81", "v82"} {
		stripe(m, "github.com/stripe/stripe-go/"+version)
	}
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

	// The errors of midtrans are structs, so the rule "outcome" finds only dropped errors.
	const midtrans = "github.com/midtrans/midtrans-go"
	for _, name := range []string{"coreapi.ChargeTransaction", "coreapi.CaptureTransaction", "coreapi.RefundTransaction", "coreapi.CancelTransaction", "iris.CreatePayout", "iris.ApprovePayout"} {
		pkg, method, _ := strings.Cut(name, ".")
		m.Money["("+midtrans+"/"+pkg+".Client)."+method] = unkeyed(name, 0)
	}
	m.Packages = append(m.Packages, midtrans, midtrans+"/coreapi", midtrans+"/iris")
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
