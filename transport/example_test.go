package transport_test

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
	"github.com/cardprograms/prepaid/transport"
)

type signing struct{ next http.RoundTripper }

func (s signing) RoundTrip(req *http.Request) (*http.Response, error) {
	signed := req.Clone(req.Context())
	signed.Header.Set("X-Signature", "…")
	return s.next.RoundTrip(signed)
}

// Your own transport wraps one whose errors say whether the request was sent.
func ExampleWrappable() {
	config := prepaid.Config{
		BaseURL:  "https://127.0.0.1:1/3.0/", // nothing listens here
		Vendor:   "vendor",
		ClientID: "id", ClientSecret: prepaid.NewSecret("secret"),
		Retry: prepaid.RetryPolicy{MaxAttempts: 1},
	}
	config.Transport = signing{transport.Wrappable(transport.New())}
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

// failover uses a second transport only if the first did not send the request.
type failover struct{ first, second http.RoundTripper }

func (f failover) RoundTrip(req *http.Request) (*http.Response, error) {
	again := req.Clone(req.Context())
	if req.Body != nil && req.GetBody != nil {
		again.Body, _ = req.GetBody()
	}
	response, err := f.first.RoundTrip(req)
	if err == nil || !transport.NotSent(err) {
		return response, err
	}
	response, failed := f.second.RoundTrip(again)
	if failed != nil {
		return nil, errors.Join(err, failed) // not sent if both say so
	}
	return response, nil
}

// A transport with a fallback checks the error of the first attempt.
func ExampleNotSent() {
	away := transport.Wrappable(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no route")
	}})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://service.example/3.0/", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = failover{away, away}.RoundTrip(req) //nolint:bodyclose // there is none
	fmt.Println(transport.NotSent(err), transport.NotSent(errors.Join(err, io.ErrUnexpectedEOF)))
	// Output: true false
}

// Bytes that a service sends past the end of a response do not appear in the log.
func ExampleDropUnsolicited() {
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	defer log.SetOutput(os.Stderr)

	log.SetOutput(transport.DropUnsolicited(log.Writer()))

	log.Print(`Unsolicited response received on idle HTTP channel starting with "5555 5555 5555 4444"; err=<nil>`)
	log.Print("started")
	// Output: started
}
