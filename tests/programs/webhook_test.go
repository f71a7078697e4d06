//go:build unix

package programs

import (
	"bytes"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/built"
	"github.com/cardprograms/prepaid/webhook"
)

func TestWebhookCommandLine(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
			code, out, errOut := run(t, []string{"PREPAID_BASE_URL=" + c.base}, "webhook", c.args...)
			require.Equal(t, c.code, code, errOut)
			require.Contains(t, errOut, c.want)
			require.Empty(t, out)
		})
	}
}

// site is an emulator that examples/webhook uses as the real service, a proxy that terminates TLS, and the receiver's books.
type site struct {
	*prepaidtest.Server

	environment, args []string
	address           string
	key               prepaid.Secret
	account           prepaid.AccountID
	books             string
}

func newSite(t *testing.T) *site {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address}))
	t.Cleanup(proxy.Close)
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	roots := x509.NewCertPool()
	roots.AddCert(proxy.Certificate())
	directory := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(directory, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	srv := prepaidtest.NewServer(t, prepaidtest.Options{WebhookRoots: roots, Signature: &prepaidtest.Signature{Header: "X-Sum"}})
	key := strings.Repeat("0f", 32)
	return &site{
		Server: srv, environment: environmentOf(srv), address: address, key: prepaid.NewSecret(key),
		account: srv.AddAccount(prepaidtest.SeedAccount{}), books: filepath.Join(directory, "books.jsonl"),
		args: []string{
			"-listen", address, "-uri", proxy.URL, "-company", prepaidtest.DefaultCompany.String(), "-header", "X-Sum",
			"-key-id", "k2", "-key-file", write("key", key+"\n"), "-old-key", "k1=" + write("old", strings.Repeat("a1", 32)),
		},
	}
}

// receive starts the receiver, interrupts it after meanwhile, and returns what it printed.
func (s *site) receive(t *testing.T, meanwhile func()) string {
	t.Helper()
	receiver := built.Start(t, program(t, s.environment, "webhook", append(s.args, "-books", s.books)...))
	receiver.Says("listening on " + s.address)
	meanwhile()
	require.NoError(t, s.WaitIdle(t.Context()))
	require.Zero(t, receiver.Stop(os.Interrupt), &receiver.ErrOut)
	require.Empty(t, receiver.ErrOut.String())
	return receiver.Out.String()
}

// The program uses the emulator as the real service until it is interrupted. Started again, it drains missed messages into
// the same books. Messages that it does not understand stay stored.
func TestWebhookService(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code, _, errOut := run(t, s.environment, "webhook", s.args...)
	require.Equal(t, 2, code, "nothing is drained into books that end with the process")
	require.Contains(t, errOut, "-books is required")
	require.Empty(t, s.Hooks())

	printed := s.receive(t, func() { s.Adjust(s.account, "12.50") })
	require.Contains(t, printed, "booked: transaction 12.50\ntransactions booked: 1,")
	s.Adjust(s.account, "-2.50")
	require.NoError(t, s.WaitIdle(t.Context()))
	printed = s.receive(t, func() {})
	require.Contains(t, printed, "booked: transaction -2.50\ndrained and dismissed: 1\n")
	require.Contains(t, printed, "transactions booked: 2, together 10.00\n")
	require.Equal(t, "10.00", s.Balance(s.account))

	code, _, errOut = run(t, s.environment, "webhook", "-listen", s.address, "-books", s.books)
	require.Equal(t, 2, code)
	require.Contains(t, errOut, "keys must have no empty id")
	args := slices.Concat(s.args, []string{"-books", s.books})
	code, _, _ = run(t, s.environment, "webhook", append(args, "-listen", "127.0.0.1:-1")...)
	require.Equal(t, 1, code)
	require.NoError(t, os.WriteFile(s.books, []byte("{}\n"), 0o600))
	code, _, errOut = run(t, s.environment, "webhook", args...)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "the books cannot be opened: line 1 is not one of the books")
}

// send sends a message to the receiver, and returns the status of the response.
func (s *site) send(t *testing.T, id, kind, rest string) int {
	t.Helper()
	body := `{"hook_id":"hook-1","id":"` + id + `","timestamp":"2026-11-21T10:00:00Z","type":"` + kind + `"` + rest + `}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address, strings.NewReader(body))
	require.NoError(t, err)
	form := webhook.HMAC{Header: "X-Sum", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded, Keys: webhook.StaticKeys{"k2": s.key}}
	require.NoError(t, form.Sign(request.Header, "k2", []byte(body)))
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

const twelve = `,"transaction":{"amount":12.50}`

// A message is in the file before its acknowledgement, and known after a restart. A line cut off by a crash is removed.
func TestBooksOutliveTheProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	both := func() {
		require.Equal(t, http.StatusOK, s.send(t, "m-1", "transaction", twelve))
		require.Equal(t, http.StatusOK, s.send(t, "m-2", "card_change", `,"card":7`))
		require.Equal(t, http.StatusOK, s.send(t, "", "ping", ""))
	}
	require.Contains(t, s.receive(t, both), "booked: transaction 12.50\nbooked: card_change\n")
	require.Contains(t, s.receive(t, both), "already in the books: transaction 12.50\nalready in the books: card_change\n")
	text, err := os.ReadFile(s.books)
	require.NoError(t, err)
	require.Equal(t, 3, bytes.Count(text, []byte("\n")), "with the ping of the registration: %s", text)
	require.Contains(t, string(text), `"card":7`, "another type is kept as it came")
	info, err := os.Stat(s.books)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.WriteFile(s.books, text[:len(text)-20], 0o600))
	printed := s.receive(t, both)
	require.Contains(t, printed, "already in the books: transaction 12.50\nbooked: card_change\n")
	repaired, err := os.ReadFile(s.books)
	require.NoError(t, err)
	require.Equal(t, string(text), string(repaired))
}

// A message that is not on the disk is never acknowledged. The file has room for the ping of the registration only.
func TestBooksThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	command := program(t, s.environment, "webhook", append(s.args, "-books", s.books)...)
	command.Args = append([]string{"sh", "-c", `ulimit -f 1 && exec "$0" "$@"`, command.Path}, command.Args[1:]...)
	command.Path = "/bin/sh"
	receiver := built.Start(t, command)
	receiver.Says("listening on " + s.address)
	for range 2 {
		require.Equal(t, http.StatusInternalServerError, s.send(t, "m-2", "other", `,"long":"`+strings.Repeat("x", 2000)+`"`))
		require.Equal(t, http.StatusInternalServerError, s.send(t, "m-1", "transaction", twelve))
	}
	require.Zero(t, receiver.Stop(os.Interrupt))
	require.NotRegexp(t, "booked: (other|transaction)", receiver.Out.String())
	require.Contains(t, receiver.Out.String(), "cannot be written")
}

// A message of another shape is refused. 0.00 is an amount.
func TestAmountIsRequired(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	printed := s.receive(t, func() {
		for _, rest := range []string{"", `,"transaction":{}`, `,"transaction":null`, `,"transaction":{"amount":null}`, `,"transaction":{"value":1}`} {
			require.GreaterOrEqual(t, s.send(t, "m-1", "transaction", rest), 400, rest)
		}
		require.Equal(t, http.StatusOK, s.send(t, "m-1", "transaction", `,"transaction":{"amount":0}`))
	})
	require.Equal(t, 5, strings.Count(printed, "transaction.amount"), printed)
	require.Contains(t, printed, "transactions booked: 1, together 0.00\n")
}
