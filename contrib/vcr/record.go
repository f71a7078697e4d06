package prepaidvcr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/iotest"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/cardprograms/prepaid/transport"
)

// tape collects the scrubbed exchanges of a recording.
type tape struct {
	path      string
	schema    *schema
	closeIdle func()

	mu      sync.Mutex
	next    http.RoundTripper
	names   *pseudonyms
	taken   []*cassette.Interaction // in request order; nil for a request without a result
	dropped []string                // places, with the operation
	stopped bool
}

// isCall allows no values in a path.
var isCall = matching(`^(GET|POST|PUT|PATCH|DELETE) /[A-Za-z_-]+(/([A-Za-z_-]+|\{[A-Za-z_-]+\}))*$`)

func newTape(path string, n names) (*tape, error) {
	r := &tape{path: path, schema: newSchema(n), names: newPseudonyms(), next: http.DefaultTransport, closeIdle: func() {}}
	if slices.ContainsFunc(n.calls, func(call string) bool { return !isCall(call) }) {
		return nil, &CassetteError{Path: path + extension, Rule: `Options.Calls has a path without the form "GET /accounts/{id}/limits"`}
	}
	for _, name := range n.keep {
		if r.schema.scrubbed[name] {
			return nil, &CassetteError{Path: path + extension, Rule: "Options.Keep has " + name + ", which the SDK scrubs elsewhere: list it in Scrub"}
		}
	}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		own := standard.Clone()
		r.closeIdle = own.CloseIdleConnections
		r.use(own)
	}
	return r, nil
}

// use sets the transport. It keeps net/http's proof that a request was never sent, see [transport.Wrappable].
func (t *tape) use(next http.RoundTripper) {
	if standard, ok := next.(*http.Transport); ok {
		next = transport.Wrappable(standard)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = next
}

// reserve takes the next place in the cassette; it returns false after the recording has ended.
func (t *tape) reserve() (place int, next http.RoundTripper, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return 0, nil, false
	}
	t.taken = append(t.taken, nil)
	return len(t.taken) - 1, t.next, true
}

// roundTrip sends a request and keeps the scrubbed exchange. It does not keep a read by which the client asks whether the service works:
// a replay may need more or fewer of these.
func (t *tape) roundTrip(req *http.Request, body []byte, asks bool) (*http.Response, error) {
	place, next, ok := t.reserve()
	if !ok {
		return nil, stoppedError{}
	}
	out := req.WithContext(req.Context())
	if req.Body != nil && req.Body != http.NoBody { // even an empty one: the client's bodies must not be readable twice
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	response, err := next.RoundTrip(out)
	if asks {
		return response, err
	}
	if err != nil {
		if !transport.NotSent(err) {
			t.keepLost(place, req, body)
		}
		return response, err
	}
	received, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(received))
	if err != nil {
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(received), iotest.ErrReader(err)))
		t.keepLost(place, req, body)
		return response, nil // the client gets the error when it reads the body
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode)))
	t.keep(place, req, body, received, cassette.Response{
		Status: status, Code: response.StatusCode, Headers: headers(response.Header, askedVendor(req.Header)),
	})
	return response, nil
}

// keepLost keeps a request that was sent and got no complete response. It ignores a GET whose caller stopped reading.
func (t *tape) keepLost(place int, req *http.Request, sent []byte) {
	if req.Method == http.MethodGet && errors.Is(req.Context().Err(), context.Canceled) {
		return
	}
	t.keep(place, req, sent, nil, cassette.Response{Status: "0 lost"})
}

// keep scrubs one exchange at a time. Afterwards, the values are gone.
func (t *tape) keep(place int, req *http.Request, sent, received []byte, response cassette.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	request := t.schema.request(t.names.stand, req.Method, req.URL, sent)
	body, responded := t.schema.response(t.names.stand, request.operation, response.Code, received)
	response.Proto, response.ProtoMajor, response.ProtoMinor = "HTTP/1.1", 1, 1
	response.Body, response.ContentLength = body, int64(len(body))
	t.taken[place] = &cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: serviceHost, Method: req.Method, URL: request.url,
			Headers: headers(req.Header, askedVendor(req.Header)), Body: request.body, ContentLength: int64(len(request.body)),
		},
		Response: response,
	}
	for _, where := range request.dropped {
		t.dropped = append(t.dropped, request.name()+" request "+where)
	}
	for _, where := range responded.dropped {
		t.dropped = append(t.dropped, request.name()+" response "+where)
	}
}

// stop ends a recording and, if it is complete, writes the cassette.
func (t *tape) stop(complete bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return nil
	}
	t.stopped = true
	t.closeIdle()
	made := cassette.New(t.path)
	made.MarshalFunc = yaml.Marshal
	for _, interaction := range t.taken {
		if interaction != nil {
			made.AddInteraction(interaction)
		}
	}
	refused := func(rule string) error {
		return &CassetteError{Path: t.path + extension, Rule: "is not written: " + rule}
	}
	switch {
	case len(t.dropped) > 0:
		slices.Sort(t.dropped)
		return refused("list in Options.Keep, Scrub or Calls: " + strings.Join(slices.Compact(t.dropped), ", "))
	case !complete:
		return refused("the recording did not run to its end")
	case len(made.Interactions) == 0:
		return refused("no request was recorded")
	}
	t.schema.names.write(made.Interactions[0].Request.Headers)
	if err := made.Save(); err != nil {
		return &CassetteError{Path: t.path + extension, Rule: "cannot be written", Err: err}
	}
	return nil
}
