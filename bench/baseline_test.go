package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
	"time"

	"github.com/cardprograms/prepaid"
)

// baselineClient calls the service without package prepaid. It uses net/http, io.ReadAll, encoding/json and an existing
// token. It has no limiter, no retries, no validation, no time limit and no log.
type baselineClient struct {
	http *http.Client
	base string
}

// plainOf returns T with the types of all members, nested ones too, replaced by plain types. A json.Number keeps money exact.
func plainOf[T any]() reflect.Type { return inPlainTypes(reflect.TypeFor[T]()) }

func inPlainTypes(t reflect.Type) reflect.Type {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return t
	case t == reflect.TypeFor[prepaid.Amount]():
		return reflect.TypeFor[json.Number]()
	case t == reflect.TypeFor[prepaid.Date](), t.Kind() == reflect.String:
		return reflect.TypeFor[string]()
	case t.Kind() == reflect.Int64:
		return reflect.TypeFor[int64]()
	case t.Kind() == reflect.Int:
		return reflect.TypeFor[int]()
	case t.Kind() == reflect.Pointer:
		return reflect.PointerTo(inPlainTypes(t.Elem()))
	case t.Kind() != reflect.Struct:
		return t
	}
	var members []reflect.StructField
	for field := range t.Fields() {
		if field.IsExported() {
			members = append(members, reflect.StructField{Name: field.Name, Type: inPlainTypes(field.Type), Tag: field.Tag})
		}
	}
	return reflect.StructOf(members)
}

type plainTransfer struct {
	RequestID            string      `json:"request_id"`
	Amount               json.Number `json:"amount"`
	SourceReference      string      `json:"source_reference"`
	DestinationReference string      `json:"destination_reference"`
	DestinationAccountID string      `json:"destination_account_id"`
	Type                 int         `json:"transaction_type"`
}

// call makes one call. body may be nil.
func (c *baselineClient) call(ctx context.Context, method, path string, body, out any) error {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	req.Header.Set("Accept", mediaType)
	if body != nil {
		req.Header.Set("Content-Type", mediaType)
	}
	response, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return json.Unmarshal(content, out)
}

var errLimit = errors.New("time limit")

// least returns a call that does only the work that no client with the same guarantees can avoid. It sends the request
// over the same transport, with a time limit, and watches the connection. It hashes a payment's body and reads the response
// into a buffer. It gets an encoded body and does not decode the response.
func least(transport http.RoundTripper, method, path string, body []byte) func() error {
	values := []string{mediaType}
	var received bytes.Buffer
	return func() error {
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
			_ = sha256.Sum256(body)
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
}
