package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// The user's environment must not send the tests to a real service.
func TestMain(m *testing.M) {
	_ = os.Unsetenv("PREPAID_BASE_URL")
	goleak.VerifyTestMain(m)
}

func TestDemonstration(t *testing.T) {
	var out, errOut bytes.Buffer
	require.Zero(t, run(t.Context(), nil, &out, &errOut))
	require.Empty(t, errOut.String())
	expected, err := os.ReadFile("expect.txt")
	require.NoError(t, err)
	for pattern := range strings.Lines(string(expected)) {
		require.Regexp(t, "(?m)"+strings.TrimRight(pattern, "\n"), out.String())
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	require.Equal(t, 1, run(ctx, nil, &out, &errOut))
	require.Contains(t, errOut.String(), "canceled")
}

// The summary reports books that lack a message.
func TestLossIsNoticed(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	account := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Adjust(account, "1.00")
	var out bytes.Buffer
	say := log.New(&out, "", 0)
	books, err := openBooks(filepath.Join(t.TempDir(), "books.jsonl"), say)
	require.NoError(t, err)
	t.Cleanup(func() { _ = books.file.Close() })
	d := &demo{receiver: &receiver{books: books, say: say}, emulator: srv, account: account}
	require.ErrorContains(t, d.summary(), "differ from the balance")
}

func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		base string
		code int
		want string
	}{
		"help":                  {args: []string{"-h"}, want: "PREPAID_CLIENT_SECRET_FILE"},
		"help on draining":      {args: []string{"-h"}, want: "the service forgets drained messages"},
		"unknown flag":          {args: []string{"-nonsense"}, code: 2, want: "not defined"},
		"no flag":               {args: []string{"now"}, code: 2, want: "flags only"},
		"no books":              {args: []string{"-key-id", "k"}, code: 2, want: "-books is required"},
		"flags without service": {args: []string{"-books", "b"}, code: 2, want: "PREPAID_BASE_URL is required"},
		"no such file":          {args: []string{"-key-file", "missing"}, code: 2, want: "missing"},
		"bad company":           {args: []string{"-company", "42abc"}, code: 2, want: "company"},
		"incomplete":            {args: []string{"-books", "b"}, base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_VENDOR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PREPAID_BASE_URL", c.base)
			var out, errOut bytes.Buffer
			require.Equal(t, c.code, run(t.Context(), c.args, &out, &errOut), errOut.String())
			require.Contains(t, errOut.String(), c.want)
			require.Empty(t, out.String())
		})
	}
}

// The program uses the emulator as the real service until it is interrupted. Started again, it drains missed messages into
// the same books. Messages that it does not understand stay stored.
func TestService(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
	t.Cleanup(proxy.Close)
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	roots := x509.NewCertPool()
	roots.AddCert(proxy.Certificate())
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	srv := prepaidtest.NewServer(t, prepaidtest.Options{WebhookRoots: roots, Signature: &prepaidtest.Signature{Header: "X-Sum"}})
	account := srv.AddAccount(prepaidtest.SeedAccount{})
	config := srv.Config()
	t.Setenv("PREPAID_BASE_URL", config.BaseURL)
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.ClientSecret.Reveal())
	file := filepath.Join(dir, "books.jsonl")
	args := []string{
		"-listen", address, "-uri", proxy.URL, "-company", prepaidtest.DefaultCompany.String(),
		"-key-id", "k2", "-key-file", write("key", newKey().Reveal()+"\n"), "-old-key", "k1=" + write("old", newKey().Reveal()),
		"-header", "X-Sum",
	}

	var out, errOut shared
	require.Equal(t, 2, run(t.Context(), args, &out, &errOut), "nothing is drained into books that end with the process")
	require.Contains(t, errOut.String(), "-books is required")
	require.Empty(t, srv.Hooks())
	args = append(args, "-books", file)

	receive := func(meanwhile func()) string {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		var out, errOut shared
		code := make(chan int)
		go func() { code <- run(ctx, args, &out, &errOut) }()
		require.Eventually(t, func() bool { return strings.Contains(out.String(), "listening on "+address) }, 10*time.Second, time.Millisecond, &errOut)
		meanwhile()
		require.NoError(t, srv.WaitIdle(t.Context()))
		interrupt()
		require.Zero(t, <-code, errOut.String())
		require.Empty(t, errOut.String())
		return out.String()
	}
	printed := receive(func() { srv.Adjust(account, "12.50") })
	require.Contains(t, printed, "booked: transaction 12.50\ntransactions booked: 1,")
	srv.Adjust(account, "-2.50")
	require.NoError(t, srv.WaitIdle(t.Context()))
	printed = receive(func() {})
	require.Contains(t, printed, "booked: transaction -2.50\ndrained and dismissed: 1\n")
	require.Contains(t, printed, "transactions booked: 2, together 10.00\n")
	books, err := openBooks(file, log.New(&out, "", 0))
	require.NoError(t, err)
	require.NoError(t, books.file.Close())
	require.Equal(t, srv.Balance(account), books.sum.String())

	require.Equal(t, 2, run(t.Context(), append(args[:2:2], "-books", file), &out, &errOut))
	require.Contains(t, errOut.String(), "keys must have no empty id")
	require.Equal(t, 1, run(t.Context(), append(args, "-listen", "127.0.0.1:-1"), &out, &errOut))
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	require.Equal(t, 1, run(t.Context(), args, &out, &errOut))
	require.Contains(t, errOut.String(), "the books cannot be opened: line 1 is not one of the books")
}

// shared is a buffer for concurrent reads and writes.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
