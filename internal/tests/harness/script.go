package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/transport"
)

// The service's side of the tests of the shared core: a raw server for faults of the wire, and a scripted RoundTripper
// for tests on a fake clock.

// Script is a RoundTripper that uses the next step of a list for each request, and the last step for all requests after
// that. It has no connections, so it works on a fake clock.
type Script struct {
	CountReads bool // a read of an account's status uses a step too, like every other request; see IsPathRead

	steps []Step

	mu   sync.Mutex
	sent []SentRequest
	Open int
	Most int // the greatest number of requests at the same time
}

type Step func(r *http.Request) (*http.Response, error)

type SentRequest struct {
	At time.Time
	Request
}

func NewScript(steps ...Step) *Script { return &Script{steps: steps} }

// Config returns the settings of Config for a client whose requests use the steps.
func (s *Script) Config() prepaid.Config {
	config := Config("https://cards.example")
	config.Transport = s
	return config
}

// Client returns a client of Config. It is closed at the end of the test.
func (s *Script) Client(t *testing.T) *prepaid.Client {
	t.Helper()
	return NewClient(t, s.Config())
}

func (s *Script) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	if IsPathRead(r) && !s.CountReads {
		return Respond(http.StatusOK, VendorJSON, "{}")(r)
	}
	s.mu.Lock()
	next := s.steps[min(len(s.sent), len(s.steps)-1)]
	s.sent = append(s.sent, SentRequest{time.Now(), Request{
		Method: r.Method, Target: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body),
	}})
	s.Open++
	s.Most = max(s.Most, s.Open)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.Open--
		s.mu.Unlock()
	}()
	return next(r)
}

func (s *Script) Requests() []SentRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// Gaps returns the times between one request and the next.
func (s *Script) Gaps() []time.Duration {
	var gaps []time.Duration
	requests := s.Requests()
	for i := 1; i < len(requests); i++ {
		gaps = append(gaps, requests[i].At.Sub(requests[i-1].At))
	}
	return gaps
}

// Respond is a step that returns a complete response. Each of the headers is "Name: value".
func Respond(status int, mediaType, body string, headers ...string) Step {
	return func(r *http.Request) (*http.Response, error) {
		header := http.Header{}
		if mediaType != "" {
			header.Set("Content-Type", mediaType)
		}
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			header.Set(name, value)
		}
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, nil
	}
}

// ServiceError is a step that returns an error response in the service's form.
func ServiceError(status int, code string, headers ...string) Step {
	return Respond(status, VendorJSON, fmt.Sprintf(`{"error":%q,"error_description":"words of the service"}`, code), headers...)
}

func Succeed(op Op) Step { return Respond(op.Status, op.MediaType, op.Body) }

// Broken is a step that fails with err after the request was sent.
func Broken(err error) Step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// Unreachable is a step whose dial fails with err.
func Unreachable(err error) Step {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return transport.Wrappable(&http.Transport{DialContext: dial}).RoundTrip
}

// After is a step that pauses for the time wait and then calls next, unless the request's context ends first.
//
//waits:bubble
func After(wait time.Duration, next Step) Step {
	return func(r *http.Request) (*http.Response, error) {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			return next(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

type RoundTripFunc func(*http.Request) (*http.Response, error)

func (f RoundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var ErrCut = errors.New("the line was cut")
