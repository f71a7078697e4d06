package hostile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// assign sets the environment of a copy, and returns its directory.
func assign(t *testing.T, payments string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "payments"), []byte(payments), 0o600))
	for name, value := range map[string]string{
		envWorker: "3", envDir: dir, envPayments: filepath.Join(dir, "payments"), envSummary: filepath.Join(dir, "summary"),
	} {
		t.Setenv(name, value)
	}
	return dir
}

func TestWork(t *testing.T) {
	dir := assign(t, `{"request_id":"r","operation":"directentryout","source_account_id":"float","amount":1.01,"source_reference":"s",`+
		`"destination_reference":"d","destination_account_info":{"bsb":"062000","account_number":"1","account_name":"J"},"bsb":"1"}`+"\n")
	held, release := io.Pipe()
	var says strings.Builder
	require.Zero(t, work(func(ctx context.Context, job Job) error {
		require.Equal(t, 3, job.Worker)
		require.Equal(t, dir, job.Dir)
		require.Len(t, job.Payments, 1)
		require.Equal(t, prepaid.AccountID("float"), job.Payments[0].SourceAccountID)
		require.Equal(t, prepaid.DirectEntryOutParams{
			RequestID: "r", Amount: prepaid.Cents(101), SourceReference: "s", DestinationReference: "d", BSB: "1",
			Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "1", AccountName: "J"},
		}, job.Payments[0].Params())
		require.NoError(t, job.Summarize([]Claim{{"r", StatePaid}, {"s", StateUnknown}}))
		return ctx.Err()
	}, held, &says))
	text, err := os.ReadFile(filepath.Join(dir, "summary"))
	require.NoError(t, err)
	require.Equal(t, `{"request_id":"r","state":"paid"}`+"\n"+`{"request_id":"s","state":"unknown"}`+"\n", string(text))

	require.Equal(t, 1, work(func(context.Context, Job) error { return errors.New("not yet") }, held, &says))
	require.NoError(t, release.Close())
	require.Equal(t, 1, work(func(ctx context.Context, _ Job) error { // the harness is gone
		<-ctx.Done()
		return ctx.Err()
	}, held, &says))
	require.Equal(t, "not yet\ncontext canceled\n", says.String())

	_, err = Run(t.Context(), Options{})
	require.EqualError(t, err, "hostile: this process is a worker: it must call Worker first")
	require.NoError(t, os.Unsetenv(envPayments))
	Worker(nil)
}

func TestEnvironmentThatIsWrong(t *testing.T) {
	never := func(context.Context, Job) error { panic("called") }
	for says, change := range map[string]func(dir string){
		"value 2 is not the expected JSON\n":            func(string) {},
		"no such file":                                  func(dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "payments"))) },
		"strconv.Atoi: parsing \"x\": invalid syntax\n": func(string) { t.Setenv(envWorker, "x") },
	} {
		change(assign(t, "{}\nx\n"))
		var errOut strings.Builder
		require.Equal(t, 1, work(never, strings.NewReader(""), &errOut))
		require.Contains(t, errOut.String(), says)
	}
	require.Error(t, Job{summary: filepath.Join(t.TempDir(), "no", "such")}.Summarize(nil))
}

// Only requests from copies get faults.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	require.Equal(t, prepaidtest.Fault{}, new(run).decide(t.Context(), prepaidtest.Arrival{Operation: Transfer.path()}))
	_, known := new(orders).find("r", "no amount")
	require.False(t, known)
}
