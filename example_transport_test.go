package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/cardprograms/prepaid"
)

// signing adds a header to every request. It hands errors on as they came.
type signing struct{ next http.RoundTripper }

func (s signing) RoundTrip(req *http.Request) (*http.Response, error) {
	signed := req.Clone(req.Context())
	signed.Header.Set("X-Signature", "…")
	return s.next.RoundTrip(signed)
}

// A transport of your own stands on one that says what it knows.
func ExampleWrappable() {
	config := prepaid.Config{
		BaseURL:     "https://127.0.0.1:1/3.0/", // nobody is there
		Vendor:      "vendor",
		Credentials: prepaid.Credentials{ClientID: "id", ClientSecret: prepaid.NewSecret("secret")},
		Retry:       prepaid.RetryPolicy{MaxAttempts: 1},
	}
	config.Transport = signing{prepaid.Wrappable(prepaid.NewTransport())}
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	_, err = client.Token(context.Background())
	failure, ok := errors.AsType[*prepaid.TransportError](err)
	fmt.Println(ok && !failure.Sent)
	// Output: true
}

// failover goes a second way only when the request did not leave by the first.
type failover struct{ first, second http.RoundTripper }

func (f failover) RoundTrip(req *http.Request) (*http.Response, error) {
	again := req.Clone(req.Context())
	if req.Body != nil && req.GetBody != nil {
		again.Body, _ = req.GetBody()
	}
	response, err := f.first.RoundTrip(req)
	if err == nil || !prepaid.NotSent(err) {
		return response, err
	}
	response, failed := f.second.RoundTrip(again)
	if failed != nil {
		return nil, errors.Join(err, failed) // not sent when both say so
	}
	return response, nil
}

// A transport with two ways asks the error of the first.
func ExampleNotSent() {
	away := prepaid.Wrappable(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no route")
	}})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://service.example/3.0/", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = failover{away, away}.RoundTrip(req) //nolint:bodyclose // there is none
	fmt.Println(prepaid.NotSent(err), prepaid.NotSent(errors.Join(err, io.ErrUnexpectedEOF)))
	// Output: true false
}

// What a service sends past the end of a response does not get into the log.
func ExampleDropUnsolicited() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	defer log.SetOutput(os.Stderr)

	log.SetOutput(prepaid.DropUnsolicited(log.Writer()))

	log.Print(`Unsolicited response received on idle HTTP channel starting with "5555 5555 5555 4444"; err=<nil>`)
	log.Print("started")
	// Output: started
}
