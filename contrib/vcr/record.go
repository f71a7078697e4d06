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
	"testing/iotest"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/cardprograms/prepaid/transport"
)

// maxRecorded bounds a recorded body before scrubbing, and after it: short cells of a report grow. Cassettes are
// fixtures, not archives.
const maxRecorded = 8 << 20

// record sends a request through the transport next and keeps the scrubbed exchange.
func (r *Recorder) record(req *http.Request, body []byte, next http.RoundTripper) (*http.Response, error) {
	place, ok := r.reserve()
	if !ok {
		return nil, stoppedError{}
	}
	out := req.WithContext(req.Context())
	if req.Body != nil && req.Body != http.NoBody { // even an empty one: the client's bodies must not be readable twice
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	response, err := next.RoundTrip(out)
	if err != nil {
		if !transport.NotSent(err) {
			r.keepLost(place, req, body)
		}
		return response, err
	}
	received, err := io.ReadAll(io.LimitReader(response.Body, maxRecorded+1))
	switch {
	case err != nil:
		response.Body = rest(received, iotest.ErrReader(err), response.Body)
		r.keepLost(place, req, body)
		return response, nil // the client gets the error when it reads the body
	case len(received) > maxRecorded:
		response.Body = rest(received, response.Body, response.Body)
		r.fail(&CassetteError{Path: r.file(), Rule: "a response is longer than a cassette may hold"})
		return response, nil
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(received))
	r.keep(place, req, body, response, received)
	return response, nil
}

// rest returns a body whose beginning was already read.
func rest(read []byte, next io.Reader, closer io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), next), closer}
}

// reserve takes the next place in the cassette; it returns false after the recording has ended.
func (r *Recorder) reserve() (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return 0, false
	}
	r.taken = append(r.taken, nil)
	return len(r.taken) - 1, true
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = errors.Join(r.failure, err)
}

// lost is the status of an interaction without a response.
const lost = "0 lost"

// keepLost keeps a request that was sent and got no complete response. It ignores a GET whose caller stopped reading.
func (r *Recorder) keepLost(place int, req *http.Request, sent []byte) {
	if req.Method == http.MethodGet && errors.Is(req.Context().Err(), context.Canceled) {
		return
	}
	r.write(place, req, sent, func(*scrubbedRequest) (cassette.Response, *scrubber) {
		return cassette.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Status: lost}, &scrubber{}
	})
}

// keep keeps a whole exchange.
func (r *Recorder) keep(place int, req *http.Request, sent []byte, response *http.Response, received []byte) {
	r.write(place, req, sent, func(request *scrubbedRequest) (cassette.Response, *scrubber) {
		work := &scrubber{names: r.names, columns: r.options.columns()}
		body, _ := r.schema.response(work, request.operation, response.StatusCode, received)
		header := headers(response.Header, askedVendor(req.Header))
		if work.header != nil {
			header[columnsHeader] = work.header
			for _, name := range work.header {
				if contains(work.columns.amounts, name) {
					header[amountsHeader] = append(header[amountsHeader], name)
				}
			}
		}
		status := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
		return cassette.Response{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Status: strings.TrimSpace(status), Code: response.StatusCode,
			Headers: header, Body: body, ContentLength: int64(len(body)),
		}, work
	})
}

// write scrubs one exchange at a time. After scrubbing, the values are gone.
func (r *Recorder) write(place int, req *http.Request, sent []byte, respond func(*scrubbedRequest) (cassette.Response, *scrubber)) {
	if len(sent) > maxRecorded {
		r.fail(&CassetteError{Path: r.file(), Rule: "a request is longer than a cassette may hold"})
		return
	}
	r.scrubbing.Lock()
	request := r.schema.request(r.names, req.Method, req.URL, sent)
	response, work := respond(request)
	r.scrubbing.Unlock()
	if len(request.body) > maxRecorded || len(response.Body) > maxRecorded {
		r.fail(&CassetteError{Path: r.file(), Rule: "a scrubbed body is longer than a cassette may hold"})
		return
	}
	header := headers(req.Header, askedVendor(req.Header))
	r.schema.named.list(header, request.operation, slices.Concat(request.used, work.used))
	interaction := &cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: serviceHost, Method: req.Method, URL: request.url,
			Headers: header, Body: request.body, ContentLength: int64(len(request.body)),
		},
		Response: response,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken[place] = interaction
	for what, places := range map[string][]string{
		" request ": placesOf(request.leaves), " response ": r.schema.leftOut(request.operation, response.Code, work.leaves),
	} {
		for _, where := range places {
			r.leftOut = append(r.leftOut, request.name()+what+where)
		}
	}
}
