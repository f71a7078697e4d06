package kernel

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/bank"
)

// A repeat during the first request pays again, also if no caller waits for it; a later repeat does not.
func TestOverlappingRepeatPaysTwice(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := bank.Serve(t, listener, bank.Options{Takes: func(string, int) time.Duration { return time.Second }})
	post := func(ctx context.Context, id string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL+"accounts/EA-1/transfer", bytes.NewBufferString(`{"request_id":"`+id+`"}`))
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(r)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	require.NoError(t, post(t.Context(), "later"))
	require.NoError(t, post(t.Context(), "later"))
	require.Equal(t, bank.Count{Requests: 2, Paid: 1}, b.Count())

	ctx, cancel := context.WithCancel(t.Context())
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { _ = post(ctx, "overlapping") })
	}
	require.Eventually(t, func() bool { return b.Count().Requests == 4 }, time.Minute, time.Millisecond)
	cancel()
	both.Wait()
	require.Eventually(t, func() bool { return len(b.Count().Twice) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, bank.Count{Requests: 4, Paid: 2, Twice: []string{"overlapping"}}, b.Count())
}
