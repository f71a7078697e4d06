package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const base = "https://api.example.com/3.0/"

// callsOfClient is how many calls a client makes before another client replaces it: the limiter is always on and
// admits only 1,000 calls at once.
const callsOfClient = 900

// opener prepares a side of a comparison. Each use of call is one unit of work.
type opener func(*testing.B) (call, done func() error)

// runSide measures a side, also in the processor time of this process, which includes the garbage collector's. Other work on the
// machine does not count, so this time is steadier than wall time.
func runSide(b *testing.B, name string, open opener) {
	b.Run("side="+name, func(b *testing.B) {
		b.ReportAllocs()
		call, done := open(b)
		var took time.Duration
		for calls := 0; b.Loop(); calls++ {
			if calls%callsOfClient == 0 {
				b.StopTimer()
				require.NoError(b, done())
				call, done = openWarm(b, open)
				b.StartTimer()
				took -= processTime()
			}
			if err := call(); err != nil {
				b.Fatal(err)
			}
			if (calls+1)%callsOfClient == 0 {
				took += processTime()
			}
		}
		if b.N%callsOfClient != 0 {
			took += processTime()
		}
		require.NoError(b, done())
		b.ReportMetric(float64(took)/float64(b.N), "cpu-ns/op")
	})
}

// openWarm fills pools and connections.
func openWarm(b *testing.B, open opener) (call, done func() error) {
	call, done = open(b)
	for range 5 {
		require.NoError(b, call())
	}
	return call, done
}

func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// newClient returns a client with all features on: tokens, limiter, retries, validation, log and trace.
func newClient(t testing.TB, address string, transport http.RoundTripper) *prepaid.Client {
	var seen atomic.Int64
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: address, Vendor: "vendor", Transport: transport, UserAgent: "bench/1",
		ClientID: "bench", ClientSecret: prepaid.NewSecret("secret"),
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Trace: &prepaid.Trace{
			AttemptDone: func(context.Context, prepaid.Operation, prepaid.Attempt) { seen.Add(1) },
			CallDone:    func(context.Context, prepaid.Operation, prepaid.CallSummary) { seen.Add(1) },
		},
	})
	require.NoError(t, err)
	return client
}

func runClient(b *testing.B, address string, transport http.RoundTripper, call func(*prepaid.Client) error) {
	runSide(b, "ours", func(b *testing.B) (func() error, func() error) {
		client := newClient(b, address, transport)
		return func() error { return call(client) }, client.Close
	})
}

func runBaseline(b *testing.B, address string, transport http.RoundTripper, call func(*baselineClient) error) {
	client := &baselineClient{http: &http.Client{Transport: transport}, base: address}
	runSide(b, "baseline", withoutClient(func() error { return call(client) }))
}

func withoutClient(call func() error) opener {
	return func(*testing.B) (func() error, func() error) { return call, func() error { return nil } }
}

// compare measures a call that reads JSON. The baseline reads it into a value of type plain.
func compare(b *testing.B, address string, transport http.RoundTripper, path string, plain reflect.Type, call func(*prepaid.Client) error) {
	runBaseline(b, address, transport, func(c *baselineClient) error {
		return c.call(context.Background(), http.MethodGet, path, nil, reflect.New(plain).Interface())
	})
	runClient(b, address, transport, call)
}

func BenchmarkAccount(b *testing.B) {
	transport := newMemory(accountBody(7), 0)
	compareAccount(b, base, transport)
	runSide(b, "least", withoutClient(least(transport, http.MethodGet, "/3.0/accounts/EAID0000000000000007", nil)))
}

func compareAccount(b *testing.B, address string, transport http.RoundTripper) {
	compare(b, address, transport, "accounts/EAID0000000000000007?with_personal=1", plainOf[prepaid.Account](), func(c *prepaid.Client) error {
		_, err := c.Accounts.Get(context.Background(), "EAID0000000000000007", prepaid.IncludeCardholder)
		return err
	})
}

func BenchmarkAccountPage(b *testing.B) {
	search := prepaid.SearchCompanyParams{
		Include: []prepaid.Include{prepaid.IncludeCardholder}, Paging: prepaid.Paging{Page: 1, Size: pageItems},
	}
	compare(b, base, newMemory(list(pageItems, accountBody), pageItems), "accounts/company/40000?with_personal=1&page_number=1&page_size=100",
		reflect.SliceOf(plainOf[prepaid.Account]()), func(c *prepaid.Client) error {
			_, err := c.Accounts.SearchCompanyPage(context.Background(), 40000, search)
			return err
		})
}

func BenchmarkTransactionPage(b *testing.B) {
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Page: 1, Size: pageItems}}
	transport := newMemory(list(pageItems, transactionBody), pageItems)
	compare(b, base, transport, "accounts/EAID0000000000000007/transactions?page_number=1&page_size=100",
		reflect.SliceOf(plainOf[prepaid.Transaction]()), func(c *prepaid.Client) error {
			_, err := c.Accounts.TransactionsPage(context.Background(), "EAID0000000000000007", params)
			return err
		})
}

const transferResult = `{"transaction_id":9000001,"correlation_id":"0c5a6f0e-55f0-4f3c-9f0c-2b1de0d1a001"}`

func BenchmarkTransfer(b *testing.B) {
	transport := newMemory(transferResult, 0)
	body := compareTransfer(b, base, transport)
	encoded, err := json.Marshal(body)
	require.NoError(b, err)
	runSide(b, "least", withoutClient(least(transport, http.MethodPost, "/3.0/accounts/EAID0000000000000007/transfer", encoded)))
}

// compareTransfer measures a transfer, and returns the body of its request.
func compareTransfer(b *testing.B, address string, transport http.RoundTripper) plainTransfer {
	key := prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "bench")
	body := plainTransfer{
		RequestID: string(key), Amount: "25.50", SourceReference: "payroll run 7",
		DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: 2950,
	}
	runBaseline(b, address, transport, func(c *baselineClient) error {
		var result struct {
			TransactionID int64  `json:"transaction_id"`
			CorrelationID string `json:"correlation_id"`
		}
		return c.call(context.Background(), http.MethodPost, "accounts/EAID0000000000000007/transfer", body, &result)
	})
	runClient(b, address, transport, func(c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(context.Background(), "EAID0000000000000007", prepaid.TransferParams{
			RequestID: key, Amount: prepaid.Cents(2550), SourceReference: "payroll run 7",
			DestinationReference: "wages of May", DestinationAccountID: "EAID0000000000000008", Type: prepaid.TransferTypeLoad,
		})
		return err
	})
	return body
}

// BenchmarkLoopback measures calls over TCP. The server is a process of its own, so that its cost does not count.
func BenchmarkLoopback(b *testing.B) {
	server := exec.CommandContext(context.Background(), executable(b))
	server.Env = append(os.Environ(), serverVariable+"=1")
	in, err := server.StdinPipe()
	require.NoError(b, err)
	out, err := server.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, server.Start())
	b.Cleanup(func() {
		require.NoError(b, in.Close())
		require.NoError(b, server.Wait())
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	address = strings.TrimSpace(address)
	transport := &http.Transport{}
	b.Cleanup(transport.CloseIdleConnections)
	b.Run("call=account", func(b *testing.B) { compareAccount(b, address, transport) })
	b.Run("call=transfer", func(b *testing.B) { compareTransfer(b, address, transport) })
}
