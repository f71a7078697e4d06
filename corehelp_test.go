package prepaid_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
)

// What the tests of the shared core have in common: one operation of each safety class, and the clients they use.

const (
	vendorJSON  = "application/vnd.vendor+json"
	octetStream = "application/octet-stream"

	accountJSON = `{"account_id":"acc-1","external_account_id":"ext-1","company_id":7,"balance":12.5,` +
		`"card_number":"5555********4444","status":"active","is_plastic_enabled":true}`
	summaryJSON  = `{"external_account_id":"ext-1","company_id":7,"balance":0,"status":"inactive"}`
	transferJSON = `{"transaction_id":71,"correlation_id":"corr-1"}`
)

// coreOp is one operation and the answer it gets when all is well.
type coreOp struct {
	name      string
	path      string
	account   prepaid.AccountID
	requestID prepaid.RequestID
	status    int
	mediaType string
	body      string
	call      func(ctx context.Context, c *prepaid.Client) error
}

func opGet() coreOp {
	return coreOp{
		name: "Accounts.Get", path: "/3.0/accounts/acc-1", account: "acc-1", status: 200, mediaType: vendorJSON, body: accountJSON,
		call: func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Accounts.Get(ctx, "acc-1")
			return err
		},
	}
}

func opPlastic() coreOp {
	return coreOp{
		name: "Accounts.SetPlasticEnabled", path: "/3.0/accounts/acc-1/plastic", account: "acc-1", status: 200,
		call: func(ctx context.Context, c *prepaid.Client) error {
			return c.Accounts.SetPlasticEnabled(ctx, "acc-1", prepaid.SetPlasticEnabledParams{Enabled: true})
		},
	}
}

func opTransfer() coreOp {
	return coreOp{
		name: "Accounts.Transfer", path: "/3.0/accounts/acc-1/transfer", account: "acc-1", requestID: "pay-1",
		status: 200, mediaType: vendorJSON, body: transferJSON,
		call: func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Accounts.Transfer(ctx, "acc-1", prepaid.TransferParams{
				RequestID: "pay-1", Amount: prepaid.MustAmount("25.50"), SourceReference: "out", DestinationReference: "in",
				DestinationAccountID: "acc-2",
			})
			return err
		},
	}
}

func opCreate() coreOp {
	return coreOp{
		name: "Accounts.Create", path: "/3.0/accounts", status: 201, mediaType: vendorJSON, body: summaryJSON,
		call: func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Accounts.Create(ctx, newCardParams())
			return err
		},
	}
}

func opRedeem() coreOp {
	return coreOp{
		name: "Funding.Redeem", path: "/3.0/funding/redemptions", account: "acc-1", status: 200, mediaType: vendorJSON,
		body: `{"outcome":"approved","transaction_id":9}`,
		call: func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Funding.Redeem(ctx, prepaid.RedeemFundingParams{
				Amount: prepaid.MustAmount("5"), AccountID: "acc-1", Exception: prepaid.FundingExceptionNone,
				MerchantNameLocation: "SHOP SYDNEY", OriginatingTransaction: new(int64(4)), Currency: "036", CardAcceptorID: "m-1",
				CorrelationID: "mine-1", MerchantCategoryCode: "5411", TerminalID: "t-1", AcquirerID: "a-1",
			})
			return err
		},
	}
}

func opStart() coreOp {
	return coreOp{
		name: "Reporting.Start", path: "/3.0/reporting/templates/daily", status: 200, mediaType: octetStream, body: "run-1",
		call: func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Reporting.Start(ctx, "daily", prepaid.StartReportParams{})
			return err
		},
	}
}

func opActivate() coreOp {
	return coreOp{
		name: "Accounts.SetStatus", path: "/3.0/accounts/acc-1/status", account: "acc-1", status: 200,
		call: func(ctx context.Context, c *prepaid.Client) error {
			return c.Accounts.SetStatus(ctx, "acc-1", prepaid.AccountStatusActive)
		},
	}
}

// coreOps are a read, a replayable, a keyed and four operations that are never repeated.
func coreOps() []coreOp {
	return []coreOp{opGet(), opPlastic(), opTransfer(), opCreate(), opRedeem(), opStart(), opActivate()}
}

func newCardParams() prepaid.CreateAccountParams {
	return prepaid.CreateAccountParams{
		CompanyID: 7, ClientAccountKey: "emp-7",
		Registration: &prepaid.Cardholder{
			FirstName: "Ada", LastName: "Lovelace",
			PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			DateOfBirth:    prepaid.Date{Year: 1990, Month: 5, Day: 17},
		},
	}
}

// coreConfig is a client without pauses and with a token at hand.
func coreConfig(address string) prepaid.Config {
	return prepaid.Config{
		BaseURL: address + "/3.0/", Vendor: "vendor", Environment: prepaid.EnvironmentTest,
		TokenSource:    numberedTokens(),
		Limiter:        prepaid.NoLimiter{},
		AttemptTimeout: 20 * time.Second,
		Retry: prepaid.RetryPolicy{
			MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond, InFlightWait: 3 * time.Millisecond,
		},
	}
}

// newCoreClient makes a client that is closed at the end of the test.
func newCoreClient(t *testing.T, config prepaid.Config) *prepaid.Client {
	t.Helper()
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// tokenFunc is a TokenSource.
type tokenFunc func(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error)

func (f tokenFunc) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	return f(ctx, rejected)
}

// numberedTokens gives token-1 until that is rejected, then token-2, and so on.
func numberedTokens() tokenFunc {
	var mu sync.Mutex
	number := 1
	return func(_ context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
		mu.Lock()
		defer mu.Unlock()
		if rejected != nil && rejected.AccessToken == fmt.Sprint("token-", number) {
			number++
		}
		return &oauth2.Token{AccessToken: fmt.Sprint("token-", number), TokenType: "Bearer"}, nil
	}
}

// clockConfig is a client over transport with the default pauses, for tests on a fake clock.
func clockConfig(transport http.RoundTripper) prepaid.Config {
	config := coreConfig("https://cards.example")
	config.Transport, config.Retry, config.AttemptTimeout = transport, prepaid.RetryPolicy{}, 0
	return config
}

// callError returns the CallError that every error of a call is.
func callError(t *testing.T, err error) *prepaid.CallError {
	t.Helper()
	require.Error(t, err)
	failure, ok := err.(*prepaid.CallError)
	require.True(t, ok, "%T is not a *CallError", err)
	return failure
}
