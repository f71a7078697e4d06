package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

const base = "https://api.example.com/3.0/"

// callsOfClient is how many calls a client makes before another client replaces it: the limiter is always on and
// admits only 1,000 calls at once.
const callsOfClient = 900

// newClient returns a client with all features on: tokens, limiter, retries, validation, log and trace.
func newClient(address string, transport http.RoundTripper) (*prepaid.Client, error) {
	var seen atomic.Int64
	note := func(context.Context, prepaid.Operation, prepaid.Attempt) { seen.Add(1) }
	return prepaid.NewClient(prepaid.Config{
		BaseURL: address, Vendor: "vendor", Transport: transport, UserAgent: "bench/1",
		ClientID: "bench", ClientSecret: prepaid.NewSecret("secret"),
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Trace: &prepaid.Trace{
			AttemptDone: note,
			CallDone:    func(context.Context, prepaid.Operation, prepaid.CallSummary) { seen.Add(1) },
		},
	})
}

// clientSide returns a side that uses a new client in each round.
func clientSide(address string, transport http.RoundTripper, call func(*prepaid.Client) error) side {
	return side{name: "ours", setup: func() (func() error, func(), error) {
		client, err := newClient(address, transport)
		if err != nil {
			return nil, nil, err
		}
		return func() error { return call(client) }, func() { _ = client.Close() }, nil
	}}
}

func baselineSide(address string, transport http.RoundTripper, call func(*baselineClient) error) side {
	return side{name: "baseline", setup: func() (func() error, func(), error) {
		client := &baselineClient{http: &http.Client{Transport: transport}, base: address}
		return func() error { return call(client) }, func() {}, nil
	}}
}

func baselineGetAccount() func(*baselineClient) error {
	account := baselineOf[prepaid.Account]()
	return func(f *baselineClient) error {
		return f.call(context.Background(), http.MethodGet, "accounts/EAID0000000000000007?with_personal=1", nil, reflect.New(account).Interface())
	}
}

func getAccount(c *prepaid.Client) error {
	_, err := c.Accounts.Get(context.Background(), "EAID0000000000000007", prepaid.IncludeCardholder)
	return err
}

func accountRows(rounds int) ([]row, error) {
	transport := newMemory(accountBody(7), 0)
	return callRows(rounds, "one account", "if not decoded", baselineSide(base, transport, baselineGetAccount()), clientSide(base, transport, getAccount),
		leastSide(transport, http.MethodGet, "/3.0/accounts/EAID0000000000000007", nil), 0.36, 0.56)
}

// callRows compares the sides with and least (see leastSide) with the side without. when ends the name of the row of least.
func callRows(rounds int, name, when string, without, with, least side, duration, bytes float64) ([]row, error) {
	baseline, ours, err := compare(rounds, callsOfClient, without, with)
	if err != nil {
		return nil, err
	}
	again, done, err := compare(rounds, callsOfClient, without, least)
	if err != nil {
		return nil, err
	}
	return []row{
		atMost(name+", time", baseline.nanoseconds, ours.nanoseconds, duration, nanoseconds),
		shown(name+", time "+when, again.nanoseconds, done.nanoseconds, nanoseconds),
		atMost(name+", bytes", baseline.bytes, ours.bytes, bytes, kilobytes).counted(),
		bounded(name+", allocations", ours.allocations, 22, decimals).from(baseline.allocations, decimals).counted(),
	}, nil
}

func accountPageRows(rounds int) ([]row, error) {
	return pageOf[prepaid.Account](rounds, "100 accounts", accountBody, "accounts/company/40000?with_personal=1&page_number=1&page_size=100",
		func(c *prepaid.Client) error {
			_, err := c.Accounts.SearchCompanyPage(context.Background(), 40000, prepaid.SearchCompanyParams{
				Include: []prepaid.Include{prepaid.IncludeCardholder}, Paging: prepaid.Paging{Page: 1, Size: pageItems},
			})
			return err
		}, 0.30)
}

func transactionPageRows(rounds int) ([]row, error) {
	return pageOf[prepaid.Transaction](rounds, "100 transactions", transactionBody, "accounts/EAID0000000000000007/transactions?page_number=1&page_size=100",
		func(c *prepaid.Client) error {
			_, err := c.Accounts.TransactionsPage(context.Background(), "EAID0000000000000007", prepaid.ListTransactionsParams{
				Paging: prepaid.Paging{Page: 1, Size: pageItems},
			})
			return err
		}, 0.22)
}

// pageOf compares how the two sides read a page of 100 items.
func pageOf[T any](rounds int, name string, body func(int) string, path string, call func(*prepaid.Client) error, bytes float64) ([]row, error) {
	transport, page := newMemory(list(pageItems, body), pageItems), reflect.SliceOf(baselineOf[T]())
	baseline, ours, err := compare(rounds, 100,
		baselineSide(base, transport, func(f *baselineClient) error {
			return f.call(context.Background(), http.MethodGet, path, nil, reflect.New(page).Interface())
		}),
		clientSide(base, transport, call))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost(name+", time", baseline.nanoseconds, ours.nanoseconds, 0.22, nanoseconds),
		atMost(name+", bytes", baseline.bytes, ours.bytes, bytes, kilobytes).counted(),
	}, nil
}

const transferResult = `{"transaction_id":9000001,"correlation_id":"0c5a6f0e-55f0-4f3c-9f0c-2b1de0d1a001"}`

// transfers returns one transfer in three forms: a call without the client, a call with the client, and the request body.
func transfers() (baseline func(*baselineClient) error, ours func(*prepaid.Client) error, body baselineTransfer) {
	key := prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "bench")
	body = baselineTransfer{
		RequestID: string(key), Amount: "25.50", SourceReference: "payroll run 7",
		DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: 2950,
	}
	baseline = func(f *baselineClient) error {
		var result baselineTransferResult
		return f.call(context.Background(), http.MethodPost, "accounts/EAID0000000000000007/transfer", body, &result)
	}
	ours = func(c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(context.Background(), "EAID0000000000000007", prepaid.TransferParams{
			RequestID: key, Amount: prepaid.Cents(2550), SourceReference: "payroll run 7",
			DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: prepaid.TransferTypeLoad,
		})
		return err
	}
	return baseline, ours, body
}

func transferRows(rounds int) ([]row, error) {
	transport := newMemory(transferResult, 0)
	without, with, body := transfers()
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return callRows(rounds, "one transfer", "if encoded before and not decoded", baselineSide(base, transport, without), clientSide(base, transport, with),
		leastSide(transport, http.MethodPost, "/3.0/accounts/EAID0000000000000007/transfer", encoded), 1, 0.78)
}
