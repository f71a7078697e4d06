package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The shared parts of the tests of the core: one operation of each safety class, and the clients of the tests.

const (
	VendorJSON  = "application/vnd.vendor+json"
	OctetStream = "application/octet-stream"

	AccountJSON = `{"account_id":"acc-1","external_account_id":"ext-1","company_id":7,"balance":12.5,` +
		`"card_number":"5555********4444","status":"active","is_plastic_enabled":true}`
	SummaryJSON  = `{"external_account_id":"ext-1","company_id":7,"balance":0,"status":"inactive"}`
	TransferJSON = `{"transaction_id":71,"correlation_id":"corr-1"}`
)

// Config returns the settings of a client that has a token and pauses for a nanosecond. It waits for a payment in flight: use a
// synctest bubble.
func Config(address string) prepaid.Config {
	return prepaid.Config{
		BaseURL: address + "/3.0/", Vendor: "vendor", TestEnvironment: true,
		Token:          NumberedTokens("token-"),
		Limiter:        ratelimit.None{},
		AttemptTimeout: 20 * time.Second,
		Retry: prepaid.RetryPolicy{
			MaxAttempts: 3, MinWait: 1, MaxWait: 1, InFlightWait: 3 * time.Millisecond,
		},
	}
}

// NewClient makes a client that is closed at the end of the test.
func NewClient(t *testing.T, config prepaid.Config) *prepaid.Client {
	t.Helper()
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// TokenFunc is a token source.
type TokenFunc func(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error)

// Capture keeps the last response of the calls made with its context, and the attempts of the last call.
type Capture struct {
	last     atomic.Pointer[prepaid.RawResponse]
	attempts atomic.Int64
}

// In returns a context; c observes the calls made with this context.
func (c *Capture) In(ctx context.Context) context.Context {
	return prepaid.WithTrace(ctx, &prepaid.Trace{
		Response: func(_ context.Context, _ prepaid.Operation, r prepaid.RawResponse) { c.last.Store(&r) },
		CallDone: func(_ context.Context, _ prepaid.Operation, s prepaid.CallSummary) {
			c.attempts.Store(int64(s.Attempts))
		},
	})
}

func (c *Capture) Last() *prepaid.RawResponse { return c.last.Load() }
func (c *Capture) Attempts() int              { return int(c.attempts.Load()) }

// StaticToken is a source that always returns the same token.
func StaticToken(text string) TokenFunc {
	return func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: text, TokenType: "bearer"}, nil
	}
}

// LimiterFunc is a Limiter that waits like (*rate.Limiter).Wait.
type LimiterFunc func(context.Context) error

func (f LimiterFunc) Acquire(ctx context.Context, _ ratelimit.Lane) (ratelimit.Slot, error) {
	return nil, f(ctx)
}

// NumberedTokens gives a token with the number 1 after prefix until it is rejected, then that with the number 2, and so on.
func NumberedTokens(prefix string) TokenFunc {
	var mu sync.Mutex
	number := 1
	return func(_ context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
		mu.Lock()
		defer mu.Unlock()
		if rejected != nil && rejected.AccessToken == fmt.Sprint(prefix, number) {
			number++
		}
		return &oauth2.Token{AccessToken: fmt.Sprint(prefix, number), TokenType: "Bearer"}, nil
	}
}

// ClockConfig returns the settings of a client that uses transport and the default pauses, for tests on a fake clock.
func ClockConfig(transport http.RoundTripper) prepaid.Config {
	config := Config("https://cards.example")
	config.Transport, config.Retry, config.AttemptTimeout = transport, prepaid.RetryPolicy{}, 0
	return config
}

// CallError returns err as a *CallError. The error of a call must have this type.
func CallError(t *testing.T, err error) *prepaid.CallError {
	t.Helper()
	require.Error(t, err)
	failure, ok := err.(*prepaid.CallError)
	require.True(t, ok, "%T is not a *CallError", err)
	return failure
}

// As returns the first error of type E within err, which must have one.
func As[E error](t testing.TB, err error) E {
	t.Helper()
	found, ok := errors.AsType[E](err)
	require.True(t, ok, "no %T within %v", found, err)
	return found
}

const HTMLPage = "<html><body>CANARY gateway</body></html>"
