package main

import (
	"bytes"
	"encoding/csv"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// front wraps an emulator as the real service, whose data may change and contain errors.
type front struct {
	*prepaidtest.Server

	before func(r *http.Request)                  // runs before a response
	change func(r *http.Request, b string) string // the body of a response
}

func service(t *testing.T, options prepaidtest.Options) *front {
	t.Helper()
	f := &front{Server: prepaidtest.NewServer(t, options)}
	outside := httptest.NewServer(f)
	t.Cleanup(outside.Close)
	config := f.Config()
	t.Setenv("PREPAID_BASE_URL", outside.URL+"/3.0/")
	t.Setenv("PREPAID_VENDOR", config.Vendor)
	t.Setenv("PREPAID_ENVIRONMENT", "test")
	t.Setenv("PREPAID_CLIENT_ID", config.Credentials.ClientID)
	t.Setenv("PREPAID_CLIENT_SECRET", config.Credentials.ClientSecret.Reveal())
	return f
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.before != nil {
		f.before(r)
	}
	answer := httptest.NewRecorder()
	f.Server.ServeHTTP(answer, r)
	body := answer.Body.String()
	if f.change != nil {
		body = f.change(r, body)
	}
	maps.Copy(w.Header(), answer.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.Code)
	_, _ = w.Write([]byte(body))
}

// load seeds accounts; see docs/emulator-seed.md.
func (f *front) load(t *testing.T, document string) {
	t.Helper()
	require.NoError(t, f.Load(strings.NewReader(document)))
}

// lastOfNovember is when the program runs: the last day that a test requests has begun.
func lastOfNovember() time.Time { return time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC) }

// outcome is the result of a run.
type outcome struct {
	code        int
	out, errOut string
	rows        [][]string // of the CSV file, without its header
}

// runIn runs the program for company 42 with its files in dir.
func runIn(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	o := outcome{code: run(t.Context(), lastOfNovember(), append([]string{"-company", "42", "-dir", dir}, args...), &stdout, &stderr)}
	o.out, o.errOut = stdout.String(), stderr.String()
	o.read(t, dir)
	return o
}

func (o *outcome) read(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		require.Equal(t, "transactions.csv", entry.Name(), "nothing else stays")
	}
	if len(entries) == 0 {
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, "transactions.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns(), rows[0])
	o.rows = rows[1:]
}

// ids are the transactions in the CSV file, in order.
func (o *outcome) ids() (ids []string) {
	for _, row := range o.rows {
		ids = append(ids, row[1])
	}
	return ids
}
