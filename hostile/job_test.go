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

// assign sets the environment of a copy.
func assign(t *testing.T, payments string) Job {
	t.Helper()
	dir := t.TempDir()
	job := Job{Worker: 3, Dir: dir, Database: "postgres://x", file: filepath.Join(dir, "payments"), summary: filepath.Join(dir, "summary")}
	require.NoError(t, os.WriteFile(job.file, []byte(payments), 0o600))
	for _, variable := range job.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	return job
}

func TestJobFromTheEnvironment(t *testing.T) {
	want := assign(t, `{"request_id":"r","operation":"directentryout","source_account_id":"float","amount":1.01,"source_reference":"s",`+
		`"destination_reference":"d","destination_account_info":{"bsb":"062000","account_number":"1","account_name":"J"},"bsb":"1","rollback":true}`+"\n")
	job, err := ReadJob()
	require.NoError(t, err)
	bank := prepaid.BankAccount{BSB: "062000", AccountNumber: "1", AccountName: "J"}
	want.Payments = []Payment{{
		RequestID: "r", Operation: DirectEntryOut, SourceAccountID: "float", Amount: prepaid.Cents(101), SourceReference: "s",
		DestinationReference: "d", Destination: &bank, BSB: "1", Rollback: true,
	}}
	require.Equal(t, want, job)
	require.Equal(t, prepaid.DirectEntryOutParams{
		RequestID: "r", Amount: prepaid.Cents(101), SourceReference: "s", DestinationReference: "d", BSB: "1", Destination: bank,
	}, job.Payments[0].Params())

	require.NoError(t, job.Summarize([]Claim{{"r", StatePaid}}))
	text, err := os.ReadFile(job.summary)
	require.NoError(t, err)
	require.Equal(t, `{"request_id":"r","state":"paid"}`+"\n", string(text))
	require.ErrorContains(t, Job{summary: filepath.Join(job.Dir, "no", "such")}.Summarize(nil), "hostile: PREPAID_HOSTILE_SUMMARY: ")
}

func TestEnvironmentThatIsWrong(t *testing.T) {
	job := assign(t, "{}\nx\n")
	_, err := ReadJob()
	require.EqualError(t, err, "hostile: PREPAID_HOSTILE_PAYMENTS: line 2 is not the expected JSON")
	require.NoError(t, os.Remove(job.file))
	_, err = ReadJob()
	require.ErrorContains(t, err, "hostile: PREPAID_HOSTILE_PAYMENTS: ")
	t.Setenv(envWorker, "")
	_, err = ReadJob()
	require.EqualError(t, err, "hostile: PREPAID_HOSTILE_WORKER: must be a whole number")
}

func TestWork(t *testing.T) {
	assign(t, "")
	held, release := io.Pipe()
	var says strings.Builder
	require.Zero(t, work(func(ctx context.Context, job Job) error {
		require.Equal(t, 3, job.Worker)
		return ctx.Err()
	}, held, &says))
	require.Equal(t, 1, work(func(context.Context, Job) error { return errors.New("not yet") }, held, &says))
	require.Equal(t, "not yet\n", says.String())
	require.NoError(t, release.Close())
	require.Equal(t, 1, work(func(ctx context.Context, _ Job) error { // the harness is gone
		<-ctx.Done()
		return ctx.Err()
	}, held, &says))
	Worker("", nil)
	Worker("another", nil)
}

// Only requests from copies get faults.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	require.Equal(t, prepaidtest.Fault{}, new(run).decide(t.Context(), prepaidtest.Arrival{Operation: Transfer.path()}))
	_, known := new(orders).find("r", "no amount")
	require.False(t, known)
}
