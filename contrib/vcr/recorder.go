package prepaidvcr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/cardprograms/prepaid"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// Mode says where answers come from.
type Mode uint8

const (
	// ModeReplay is the zero value: answers come from the cassette, and nothing touches the network.
	ModeReplay Mode = iota
	// ModeRecord sends every request and writes a new cassette.
	ModeRecord
)

// Options are the settings of a [Recorder]. The zero value replays.
type Options struct {
	// Mode is ModeReplay unless set; Start takes it from the environment.
	Mode Mode
	// Transport sends the requests of a recording: a clone of http.DefaultTransport when nil.
	Transport http.RoundTripper
	// ReportColumns are the names of columns of your reports. A first row of a report that consists of them alone is
	// kept; every other cell is scrubbed, that row included when it has another name.
	ReportColumns []string
	// AllowUnused makes Stop accept recorded requests that were not made.
	AllowUnused bool
}

// maxRecorded bounds a recorded body. A cassette is a fixture, not an archive.
const maxRecorded = 8 << 20

// Recorder is the Transport of a client that records its calls or replays them. It is safe for concurrent use; make one
// with [New] or [Start]. The zero value is not usable.
type Recorder struct {
	path    string
	options Options
	schema  *schema
	next    http.RoundTripper
	names   *pseudonyms
	player  *player // of a replay

	mu      sync.Mutex
	taken   []*cassette.Interaction // in the order in which the requests were made; nil where none came of it
	failure error
	stopped bool
}

// New opens the cassette at path, which ends in .yaml or has that added. Call Stop at the end.
//
// Errors: *[CassetteError] when there is nothing to replay, *[UnscrubbedError] when a cassette to replay holds what must
// not be in it.
func New(path string, options Options) (*Recorder, error) {
	r := &Recorder{
		path: strings.TrimSuffix(path, extension), options: options, schema: newSchema(), next: options.Transport,
		names: newPseudonyms(),
	}
	if options.Mode == ModeRecord {
		if r.next == nil {
			r.next = newTransport()
		}
		return r, nil
	}
	if err := CheckFile(r.file(), CheckOptions{ReportColumns: options.ReportColumns}); err != nil {
		return nil, err
	}
	tape, err := cassette.Load(r.path)
	if err != nil {
		return nil, &CassetteError{Path: r.file(), Rule: "cannot be replayed", Err: err}
	}
	r.player, err = newPlayer(r.schema, tape)
	return r, err
}

const extension = ".yaml"

func (r *Recorder) file() string { return r.path + extension }

func newTransport() http.RoundTripper {
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		return standard.Clone()
	}
	return http.DefaultTransport
}

// Recording reports whether requests are sent and recorded.
func (r *Recorder) Recording() bool { return r.options.Mode == ModeRecord }

// Config returns config with r as its Transport. For a replay it fills in what is missing (address, vendor,
// credentials) with made-up values, and switches the rate limit off unless config has a Limiter: a replay needs nothing
// of the environment it was recorded in.
func (r *Recorder) Config(config prepaid.Config) prepaid.Config {
	config.Transport = r
	if r.Recording() {
		return config
	}
	if config.BaseURL == "" {
		config.BaseURL = "https://" + serviceHost + apiRoot + "/"
	}
	if config.Vendor == "" {
		config.Vendor = recordedVendor
	}
	if config.TokenSource == nil && config.Credentials.ClientID == "" {
		config.Credentials = prepaid.Credentials{ClientID: "replay", ClientSecret: prepaid.NewSecret("replay")}
	}
	if config.Limiter == nil {
		config.Limiter = prepaid.NoLimiter{}
	}
	return config
}

// RoundTrip records or replays one request. It implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if r.Recording() {
		return r.record(req, body)
	}
	return r.replay(req, body)
}

// readBody takes the whole body of a request and closes it, as a RoundTripper has to.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	return io.ReadAll(req.Body)
}

func (r *Recorder) replay(req *http.Request, body []byte) (*http.Response, error) {
	request := r.schema.request(newPseudonyms(), req.Method, req.URL, body)
	found, err := r.player.find(req.Method, request)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: found.Response.Status, StatusCode: found.Response.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        served(found.Response.Headers, askedVendor(req.Header)),
		Body:          io.NopCloser(strings.NewReader(found.Response.Body)),
		ContentLength: int64(len(found.Response.Body)),
		Request:       req,
	}, nil
}

// record sends a request and keeps the scrubbed exchange. An exchange that broke off is not kept.
func (r *Recorder) record(req *http.Request, body []byte) (*http.Response, error) {
	place := r.reserve()
	out := *req
	if len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	} else if req.Body != nil && req.Body != http.NoBody {
		out.Body = unreadBody{} // the client asks for a body that cannot be read twice
	}
	response, err := r.next.RoundTrip(&out)
	if err != nil {
		return response, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxRecorded+1))
	switch {
	case err != nil:
		response.Body = rest(answer, failing{err}, response.Body)
		return response, nil //nolint:nilerr // the client meets it in the body
	case len(answer) > maxRecorded:
		response.Body = rest(answer, response.Body, response.Body)
		r.fail(&CassetteError{Path: r.file(), Rule: "an answer is longer than a cassette may hold"})
		return response, nil
	}
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(answer))
	r.keep(place, req, body, response, answer)
	return response, nil
}

// unreadBody is an empty body that net/http does not know to be one.
type unreadBody struct{}

func (unreadBody) Read([]byte) (int, error) { return 0, io.EOF }

func (unreadBody) Close() error { return nil }

// failing is the end of a body that broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// rest is a body of which the beginning was read.
func rest(read []byte, next io.Reader, closer io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), next), closer}
}

func (r *Recorder) reserve() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = append(r.taken, nil)
	return len(r.taken) - 1
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = errors.Join(r.failure, err)
}

// keep scrubs an exchange. From here on nobody has the values any more.
func (r *Recorder) keep(place int, req *http.Request, sent []byte, response *http.Response, answer []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	request := r.schema.request(r.names, req.Method, req.URL, sent)
	body, _ := r.schema.response(r.names, r.options.ReportColumns, request.operation, response.StatusCode, answer)
	vendor := askedVendor(req.Header)
	status := fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	r.taken[place] = &cassette.Interaction{
		Request: cassette.Request{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: serviceHost, Method: req.Method,
			URL: request.url, Headers: headers(req.Header, vendor), Body: request.body, ContentLength: int64(len(request.body)),
		},
		Response: cassette.Response{
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Status: strings.TrimSpace(status), Code: response.StatusCode,
			Headers: headers(response.Header, vendor), Body: body, ContentLength: int64(len(body)),
		},
	}
}
