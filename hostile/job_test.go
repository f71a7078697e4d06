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

	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestWork(t *testing.T) {
	dir := t.TempDir()
	payments, summary := filepath.Join(dir, "payments"), filepath.Join(dir, "summary")
	for name, value := range map[string]string{envDir: dir, envPayments: payments, envSummary: summary} {
		t.Setenv(name, value)
	}
	require.NoError(t, os.WriteFile(payments, []byte(`{"request_id":"r","amount":1.01}`+"\n"), 0o600))
	held, release := io.Pipe()
	var says strings.Builder
	require.Zero(t, work(func(ctx context.Context, job Job) error {
		require.Equal(t, dir, job.Dir)
		require.Len(t, job.Payments, 1)
		require.Equal(t, "1.01", job.Payments[0].Amount.String())
		require.NoError(t, job.Summarize([]Claim{{"r", StatePaid}, {"s", StateUnknown}}))
		return ctx.Err()
	}, held, &says))
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.Equal(t, `{"request_id":"r","state":"paid"}`+"\n"+`{"request_id":"s","state":"unknown"}`+"\n", string(text))

	require.Equal(t, 1, work(func(context.Context, Job) error { return errors.New("not yet") }, held, &says))
	require.NoError(t, release.Close())
	require.Equal(t, 1, work(func(ctx context.Context, _ Job) error { // the harness is gone
		<-ctx.Done()
		return ctx.Err()
	}, held, &says))
	require.NoError(t, os.WriteFile(payments, []byte("{}\nx\n"), 0o600))
	require.Equal(t, 1, work(nil, held, &says))
	require.Equal(t, "not yet\ncontext canceled\nvalue 2 is not the expected JSON\n", says.String())

	_, err = Run(t.Context(), Options{})
	require.EqualError(t, err, "hostile: this process is a worker: it must call Worker first")
	require.NoError(t, os.Unsetenv(envPayments))
	Worker(nil)
}

// Only requests from copies get faults.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	require.Equal(t, prepaidtest.Fault{}, new(run).decide(t.Context(), prepaidtest.Arrival{Operation: Transfer.path()}))
	_, known := new(orders).find("r", "no amount")
	require.False(t, known)
}
