package prepaid_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

// Calls use a proxy and a client certificate.
func ExampleConfig_transport() {
	var certificate tls.Certificate // from tls.LoadX509KeyPair
	egress, err := url.Parse("http://egress.example:3128")
	check(err)
	config := prepaid.Config{
		BaseURL:  "https://service.example/3.0/",
		Vendor:   "vendor",
		ClientID: "id", ClientSecret: prepaid.NewSecret("secret"),
	}

	base := transport.New()
	base.TLSClientConfig.Certificates = []tls.Certificate{certificate} // mTLS
	base.Proxy = http.ProxyURL(egress)
	config.Transport = base
	client, err := prepaid.NewClient(config)
	check(err)
	defer base.CloseIdleConnections() // the client closes only those of its own transport
	defer client.Close()
	fmt.Println(base.MaxIdleConnsPerHost, base.ForceAttemptHTTP2)
	// Output: 128 true
}

// sharedTokens adapts a source of package oauth2. If it returns a rejected token again, the call ends with the 401. The
// source does not receive the context, so a call stops waiting for it when its context ends.
type sharedTokens struct{ oauth2.TokenSource }

func (s sharedTokens) Token(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) {
	var token *oauth2.Token
	done := make(chan error, 1)
	go func() {
		var err error
		token, err = s.TokenSource.Token()
		done <- err
	}()
	select {
	case err := <-done:
		return token, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Tokens can have another source, such as a sidecar, or one that several clients share.
func ExampleConfig_tokenSource() {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()

	shared := &clientcredentials.Config{
		ClientID: config.ClientID, ClientSecret: config.ClientSecret.Reveal(),
		TokenURL: srv.URL + "token", AuthStyle: oauth2.AuthStyleInHeader,
	}
	config.ClientID, config.ClientSecret = "", prepaid.Secret{}
	config.Token = sharedTokens{shared.TokenSource(context.Background())}.Token
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()
	account, err := client.Accounts.Summary(context.Background(), id)
	check(err)
	fmt.Println(account.Balance)
	// Output: 100.00
}

// closedLimiter admits nothing. Any other error of yours, such as that of (*rate.Limiter).Wait, belongs next to a RefusedError:
// fmt.Errorf("%w: %w", &ratelimit.RefusedError{}, err).
type closedLimiter struct{}

func (closedLimiter) Acquire(context.Context, ratelimit.Lane) (ratelimit.Slot, error) {
	return nil, &ratelimit.RefusedError{Wait: time.Hour}
}

// Your own limiter. This one admits nothing, so no request is sent.
func ExampleConfig_limiter() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	config := srv.Config()
	config.Limiter = closedLimiter{}
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()

	_, err = client.Accounts.Summary(context.Background(), "EA1")
	fmt.Println(errors.Is(err, prepaid.ErrRateLimited), prepaid.OutcomeOf(err), len(srv.Requests()))
	// Output: true not_processed 0
}

// counters represents the program's metrics.
type counters struct{ unknown, throttled, renewalsFailed atomic.Int64 }

// trace counts the events to alert on.
func (c *counters) trace() *prepaid.Trace {
	return &prepaid.Trace{
		CallDone: func(_ context.Context, _ prepaid.Operation, done prepaid.CallSummary) {
			if done.Outcome == prepaid.OutcomeUnknown {
				c.unknown.Add(1)
			}
		},
		AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
			if a.StatusCode == 429 {
				c.throttled.Add(1)
			}
		},
		TokenRenewed: func(_ context.Context, _ time.Duration, err error) {
			if err != nil {
				c.renewalsFailed.Add(1)
			}
		},
	}
}

// start returns a client that passed Check, or an error that names the fault in the deployment.
func start(ctx context.Context, config prepaid.Config, log *slog.Logger, c *counters) (*prepaid.Client, error) {
	config.Logger, config.Trace = log, c.trace()
	client, err := prepaid.NewClient(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	proof, err := client.Check(ctx)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	if proof.ClockSkew.Abs() > 30*time.Second {
		log.Warn("the clock of this machine is off", "by", proof.ClockSkew)
	}
	return client, nil
}

// The start of a program: settings, a check that they work, and counters to alert on.
func Example_start() {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	id, seen := seed(srv, "100.00"), &counters{}

	client, err := start(context.Background(), srv.Config(), slog.New(slog.DiscardHandler), seen)
	check(err)
	defer client.Close()
	fmt.Println("ready")

	srv.Inject("GET /accounts/{id}/status", prepaidtest.TooManyRequests(0))
	if _, err := client.Accounts.Summary(context.Background(), id); err != nil {
		fmt.Println(err)
	}
	fmt.Println(seen.unknown.Load(), seen.throttled.Load(), seen.renewalsFailed.Load())

	wrong := srv.Config()
	wrong.ClientSecret = prepaid.NewSecret("an old one")
	_, err = start(context.Background(), wrong, slog.New(slog.DiscardHandler), seen)
	fmt.Println(err)
	// Output:
	// ready
	// 0 1 0
	// prepaid: Token: not_processed: no access token: status 401 (invalid_client): the client credentials are incorrect
}

// A run that is told to stop finishes the current payment and starts no other: interrupting a call leaves its outcome
// unknown.
func Example_shutdown() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, from, to := srv.Client(), seed(srv, "100.00"), seed(srv, "0")
	payments := make([]prepaid.TransferParams, 3)
	for i := range payments {
		payments[i] = prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(1000), DestinationAccountID: to,
			SourceReference: "payroll", DestinationReference: "salary",
		}
	}
	ctx, stop := context.WithCancel(context.Background()) // in a program: signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	paid := 0
	for _, payment := range payments {
		if ctx.Err() != nil {
			break
		}
		call, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		_, err := client.Accounts.Transfer(call, from, payment)
		done()
		if err != nil {
			fmt.Println(err)
			continue
		}
		if paid++; paid == 2 {
			stop() // the signal arrives
		}
	}
	fmt.Println(paid, "paid,", len(payments)-paid, "left for the next run,", srv.Balance(from), "on the account")
	// Output: 2 paid, 1 left for the next run, 80.00 on the account
}

// If the deadline leaves no time for a repeat, a lost response leaves the outcome unknown, without a wait. This deadline
// is long enough for an attempt, but not for the pause of 40 s before the second one.
func Example_deadline() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	from, to := seed(srv, "100.00"), seed(srv, "0")
	config := srv.Config()
	config.AttemptTimeout, config.Retry.InFlightWait = 0, 0 // the defaults, 30 s and 10 s
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	ctx, cancel := context.WithTimeout(context.Background(), 35*time.Second)
	defer cancel()
	_, err = client.Accounts.Transfer(ctx, from, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(1000), DestinationAccountID: to,
		SourceReference: "payroll", DestinationReference: "salary",
	})
	fmt.Println(prepaid.OutcomeOf(err), len(srv.Requests()), srv.Balance(to))
	// Output: unknown 2 10.00
}

// A program's own configuration file contains the client's settings. The secret is in a separate file, as secret stores
// mount it.
func ExampleConfig_yaml() {
	type file struct {
		Listen  string         `yaml:"listen"`
		Prepaid prepaid.Config `yaml:"prepaid"`
	}
	load := func(text, secret string) (file, error) {
		var f file
		decoder := yaml.NewDecoder(strings.NewReader(text))
		decoder.KnownFields(true) // otherwise a misspelt setting would be ignored
		if err := decoder.Decode(&f); err != nil {
			return file{}, err
		}
		f.Prepaid.ClientSecret = prepaid.NewSecret(strings.TrimRight(secret, "\r\n"))
		return f, f.Prepaid.Validate()
	}
	f, err := load(`
listen: 127.0.0.1:8080
prepaid:
  base_url: https://test.example.com/3.0/
  vendor: vendor
  test_environment: true
  client_id: acme
  attempt_timeout: 20s
  rate_share: 0.25
  retry:
    max_attempts: 3
`, "s3cret\n")
	fmt.Println(f.Prepaid.AttemptTimeout, f.Prepaid.RateShare, f.Prepaid.Retry.MaxAttempts, f.Prepaid.ClientSecret, err)

	_, err = load("prepaid: {base_url: https://test.example.com/, vendor: vendor}", "")
	fmt.Println(err)
	// Output:
	// 20s 0.25 3 [REDACTED] <nil>
	// prepaid: invalid input: base_url must end in /3.0/; client_id is required; client_secret is required
}
