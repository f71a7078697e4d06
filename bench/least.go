package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

var errLimit = errors.New("time limit")

// leastSide returns a side that does only the work that no client with the same guarantees can avoid. It sends the request
// over the same transport, with a time limit, and watches the connection. It hashes a payment's body and reads the response
// into a buffer. It gets an encoded body and does not decode the response.
func leastSide(transport http.RoundTripper, method, path string, body []byte) side {
	values := []string{mediaType}
	var received bytes.Buffer
	var sum [sha256.Size]byte
	send := func() error {
		ctx, cancel := context.WithCancelCause(context.Background())
		timer := time.AfterFunc(30*time.Second, func() { cancel(errLimit) })
		defer func() {
			timer.Stop()
			cancel(nil)
		}()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { timer.Reset(time.Second) }})
		header := http.Header{"User-Agent": values, "Accept": values, "Authorization": values}
		address := &url.URL{Scheme: "https", Host: "api.example.com", Path: path}
		request := (&http.Request{Method: method, URL: address, Host: address.Host, Header: header}).WithContext(ctx)
		if body != nil {
			sum = sha256.Sum256(body)
			header["Content-Type"] = values
			request.ContentLength = int64(len(body))
			request.Body = io.NopCloser(bytes.NewReader(body))
			request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		received.Reset()
		_, err = received.ReadFrom(response.Body)
		return errors.Join(err, response.Body.Close())
	}
	return side{name: "least", setup: func() (func() error, func(), error) { return send, func() { _ = sum }, nil }}
}
