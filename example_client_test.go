package prepaid_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The token that a call made now would use. The client gets and renews it by itself; this is for a request of your own.
func ExampleClient_Token() {
	srv := emulator()
	defer srv.Close()

	token, err := srv.Client().Token(context.Background())
	if err != nil { // a *TokenError
		fmt.Println(err)
		return
	}
	fmt.Println(token.Type(), time.Until(token.Expiry).Round(time.Minute))
	// Output: Bearer 1h0m0s
}

// Calls leave through a proxy, and show a client certificate.
func ExampleNewTransport() {
	var certificate tls.Certificate // from tls.LoadX509KeyPair
	egress, err := url.Parse("http://egress.example:3128")
	if err != nil {
		fmt.Println(err)
		return
	}
	config := prepaid.Config{
		BaseURL:     "https://service.example/3.0/",
		Vendor:      "vendor",
		Credentials: prepaid.Credentials{ClientID: "id", ClientSecret: prepaid.NewSecret("secret")},
	}

	transport := prepaid.NewTransport()
	transport.TLSClientConfig.Certificates = []tls.Certificate{certificate} // mTLS
	transport.Proxy = http.ProxyURL(egress)
	config.Transport = transport
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer transport.CloseIdleConnections() // the client closes those of its own transport only
	defer client.Close()
	fmt.Println(transport.MaxIdleConnsPerHost, transport.ForceAttemptHTTP2)
	// Output: 128 true
}

// An access token that the service no longer takes is renewed once, and the call is sent again.
func ExampleClient_Token_rejected() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	ctx := context.Background()

	for range 2 {
		account, err := client.Accounts.Status(ctx, id)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(account.Balance)
		srv.RevokeTokens()
	}
	tokens := 0
	for _, request := range srv.Requests() {
		if request.Template == "/token" {
			tokens++
		}
	}
	fmt.Println(tokens, "tokens")
	// Output:
	// 100.00
	// 100.00
	// 2 tokens
}

// Wrong credentials: the call was never sent.
func ExampleTokenError() {
	srv := emulator()
	defer srv.Close()
	config := srv.Config()
	config.Credentials.ClientSecret = prepaid.NewSecret("an old one")
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	_, err = client.Accounts.Status(context.Background(), "EA1")
	_, ok := errors.AsType[*prepaid.TokenError](err)
	fmt.Println(ok, errors.Is(err, prepaid.ErrUnauthorized), prepaid.OutcomeOf(err))
	fmt.Println(err)
	// Output:
	// true true not processed
	// prepaid: Accounts.Status: not processed: no access token: status 401 (invalid_client): the client credentials are incorrect
}

// A closed client fails every later call, and says that nothing was done.
func ExampleClient_Close() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	fmt.Println(client.Close())
	_, err := client.Accounts.Status(context.Background(), id)
	fmt.Println(errors.Is(err, prepaid.ErrClosed), prepaid.OutcomeOf(err))
	// Output:
	// <nil>
	// true not processed
}

// What Check says when something is wrong with a deployment: here another program answers at the address.
func ExampleClient_Check_notTheService() {
	srv := emulator()
	defer srv.Close()

	srv.Inject("GET /policy/mccodes", prepaidtest.ProxyPage(http.StatusOK))
	_, err := srv.Client().Check(context.Background())
	if wrong, ok := errors.AsType[*prepaid.DecodeError](err); ok {
		fmt.Println(wrong.StatusCode, wrong.MediaType)
	}
	// Output: 200 text/html
}

// Validate finds every fault at once, before anything is built, as a configuration check in CI would.
func ExampleConfig_Validate() {
	config := prepaid.Config{
		BaseURL: "https://api.example.com/", Vendor: "vendor", RateShare: 4,
		Credentials: prepaid.Credentials{ClientID: "acme", ClientSecret: prepaid.NewSecret("s3cret")},
	}
	if invalid, ok := errors.AsType[*prepaid.ValidationError](config.Validate()); ok {
		for _, fault := range invalid.Faults {
			fmt.Println(fault.Field, fault.Rule)
		}
	}
	// Output:
	// base_url must end in /3.0/
	// rate_share must be above 0 and at most 1
}

// Tokens can come from elsewhere, such as a sidecar or a source shared with other clients.
func ExampleTokenSourceFrom() {
	srv := emulator()
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()

	shared := &clientcredentials.Config{
		ClientID: config.Credentials.ClientID, ClientSecret: config.Credentials.ClientSecret.Reveal(),
		TokenURL: srv.URL + "token", AuthStyle: oauth2.AuthStyleInHeader,
	}
	config.Credentials = prepaid.Credentials{}
	config.TokenSource = prepaid.TokenSourceFrom(shared.TokenSource(context.Background()))
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	account, err := client.Accounts.Status(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Balance)
	// Output: 100.00
}

// A limiter of your own, such as (*rate.Limiter).Wait. Here nothing is admitted, and the service is not asked.
func ExampleLimiterFunc() {
	srv := emulator()
	defer srv.Close()
	config := srv.Config()
	config.Limiter = prepaid.LimiterFunc(func(context.Context) error { return errors.New("quota used up") })
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	_, err = client.Accounts.Status(context.Background(), "EA1")
	fmt.Println(errors.Is(err, prepaid.ErrRateLimited), prepaid.OutcomeOf(err), len(srv.Requests()))
	// Output: true not processed 0
}
