package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

const base = "https://api.example.com/3.0/"

// callsOfClient is how many calls a client makes before it is replaced: the limiter, which is always on, admits 1,000
// at once.
const callsOfClient = 900

// newClient returns a client with everything on: tokens, limiter, retries, validation, log and trace.
func newClient(address string, transport http.RoundTripper) (*prepaid.Client, error) {
	var seen atomic.Int64
	note := func(context.Context, prepaid.Operation, prepaid.Attempt) { seen.Add(1) }
	return prepaid.NewClient(prepaid.Config{
		BaseURL: address, Vendor: "vendor", Transport: transport, UserAgent: "bench/1",
		Credentials: prepaid.Credentials{ClientID: "bench", ClientSecret: prepaid.NewSecret("secret")},
		Logger:      slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Trace: &prepaid.Trace{
			AttemptDone: note,
			CallDone:    func(context.Context, prepaid.Operation, prepaid.CallSummary) { seen.Add(1) },
		},
	})
}

// clientSide is a side that calls with a new client in each round.
func clientSide(address string, transport http.RoundTripper, call func(*prepaid.Client) error) side {
	return side{name: "ours", setup: func() (func() error, func(), error) {
		client, err := newClient(address, transport)
		if err != nil {
			return nil, nil, err
		}
		return func() error { return call(client) }, func() { _ = client.Close() }, nil
	}}
}

func floorSide(address string, transport http.RoundTripper, call func(*floorClient) error) side {
	return side{name: "floor", setup: func() (func() error, func(), error) {
		client := &floorClient{http: &http.Client{Transport: transport}, base: address}
		return func() error { return call(client) }, func() {}, nil
	}}
}

func floorGetAccount(f *floorClient) error {
	var account floorAccount
	return f.call(context.Background(), http.MethodGet, "accounts/EAID0000000000000007?with_personal=1", nil, &account)
}

func getAccount(c *prepaid.Client) error {
	_, err := c.Accounts.Get(context.Background(), "EAID0000000000000007", prepaid.IncludeCardholder)
	return err
}

func accountRows(rounds int) ([]row, error) {
	transport := newMemory(accountBody(7), 0)
	one := floorSide(base, transport, floorGetAccount)
	floor, ours, err := compare(rounds, callsOfClient, one, clientSide(base, transport, getAccount))
	if err != nil {
		return nil, err
	}
	again, least, err := compare(rounds, callsOfClient, one, leastSide(transport, http.MethodGet, "/3.0/accounts/EAID0000000000000007", nil))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost("one account, time", floor.nanoseconds, ours.nanoseconds, 0.36, nanoseconds),
		shown("one account, time if not decoded", again.nanoseconds, least.nanoseconds, nanoseconds),
		atMost("one account, bytes", floor.bytes, ours.bytes, 0.56, kilobytes).counted(),
		bounded("one account, allocations", ours.allocations, 22, decimals).from(floor.allocations, decimals).counted(),
	}, nil
}

func accountPageRows(rounds int) ([]row, error) {
	transport := newMemory(list(pageItems, accountBody), pageItems)
	floor, ours, err := compare(rounds, 100,
		floorSide(base, transport, func(f *floorClient) error {
			var page []floorAccount
			return f.call(context.Background(), http.MethodGet, "accounts/company/40000?with_personal=1&page_number=1&page_size=100", nil, &page)
		}),
		clientSide(base, transport, func(c *prepaid.Client) error {
			_, err := c.Accounts.SearchCompanyPage(context.Background(), 40000, prepaid.SearchCompanyParams{
				Include: []prepaid.Include{prepaid.IncludeCardholder}, Paging: prepaid.Paging{Page: 1, Size: pageItems},
			})
			return err
		}))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost("100 accounts, time", floor.nanoseconds, ours.nanoseconds, 0.22, nanoseconds),
		atMost("100 accounts, bytes", floor.bytes, ours.bytes, 0.30, kilobytes).counted(),
	}, nil
}

func transactionPageRows(rounds int) ([]row, error) {
	transport := newMemory(list(pageItems, transactionBody), pageItems)
	floor, ours, err := compare(rounds, 100,
		floorSide(base, transport, func(f *floorClient) error {
			var page []floorTransaction
			return f.call(context.Background(), http.MethodGet, "accounts/EAID0000000000000007/transactions?page_number=1&page_size=100", nil, &page)
		}),
		clientSide(base, transport, func(c *prepaid.Client) error {
			_, err := c.Accounts.TransactionsPage(context.Background(), "EAID0000000000000007", prepaid.ListTransactionsParams{
				Paging: prepaid.Paging{Page: 1, Size: pageItems},
			})
			return err
		}))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost("100 transactions, time", floor.nanoseconds, ours.nanoseconds, 0.22, nanoseconds),
		atMost("100 transactions, bytes", floor.bytes, ours.bytes, 0.22, kilobytes).counted(),
	}, nil
}

const transferResult = `{"transaction_id":9000001,"correlation_id":"0c5a6f0e-55f0-4f3c-9f0c-2b1de0d1a001"}`

// transfers returns one transfer without the client and with it, and its body.
func transfers() (floor func(*floorClient) error, ours func(*prepaid.Client) error, body floorTransfer) {
	key := prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "bench")
	body = floorTransfer{
		RequestID: string(key), Amount: "25.50", SourceReference: "payroll run 7",
		DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: 2950,
	}
	floor = func(f *floorClient) error {
		var result floorTransferResult
		return f.call(context.Background(), http.MethodPost, "accounts/EAID0000000000000007/transfer", body, &result)
	}
	ours = func(c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(context.Background(), "EAID0000000000000007", prepaid.TransferParams{
			RequestID: key, Amount: prepaid.Cents(2550), SourceReference: "payroll run 7",
			DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: prepaid.TransferTypeLoad,
		})
		return err
	}
	return floor, ours, body
}

func transferRows(rounds int) ([]row, error) {
	transport := newMemory(transferResult, 0)
	without, with, body := transfers()
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	one := floorSide(base, transport, without)
	floor, ours, err := compare(rounds, callsOfClient, one, clientSide(base, transport, with))
	if err != nil {
		return nil, err
	}
	again, least, err := compare(rounds, callsOfClient, one,
		leastSide(transport, http.MethodPost, "/3.0/accounts/EAID0000000000000007/transfer", encoded))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost("one transfer, time", floor.nanoseconds, ours.nanoseconds, 1, nanoseconds),
		shown("one transfer, time if encoded before and not decoded", again.nanoseconds, least.nanoseconds, nanoseconds),
		atMost("one transfer, bytes", floor.bytes, ours.bytes, 0.78, kilobytes).counted(),
		bounded("one transfer, allocations", ours.allocations, 22, decimals).from(floor.allocations, decimals).counted(),
	}, nil
}
