package prepaidvcr

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

// Mode is the source of responses.
type Mode uint8

const (
	// ModeReplay, the zero value, takes responses from the cassette, without the network.
	ModeReplay Mode = iota
	// ModeRecord sends every request and writes a new cassette.
	ModeRecord
)

// Options are the settings of a [Recorder].
type Options struct {
	// Mode is ModeReplay by default; Start takes it from the environment.
	Mode Mode
	// Transport sends the requests of a recording. The default is the Transport of the prepaid.Config passed to
	// Recorder.Config, or a clone of http.DefaultTransport.
	Transport http.RoundTripper
	// ReportColumns are the names of columns of your reports, for a recording. If a report's first row has only these
	// names and ReportAmounts, the row is kept. Other cells are scrubbed. The cassette lists the kept columns.
	ReportColumns []string
	// ReportAmounts are the names of columns with amounts, for a recording. If the first row is kept, amounts in these
	// columns are kept too: whole numbers and decimals of at most ten digits before and four after the point. Other
	// numbers become pseudonyms, and sums of them mean nothing. Do not list columns that have IDs.
	ReportAmounts []string
	// Keep are names, for a recording, that the SDK does not know: members and parameters of Client.Do, and new members of
	// responses. The cassette keeps them with their values and lists them. Name nothing that has secrets or personal data;
	// a name that the SDK itself scrubs, such as hmac_key_secret, is refused.
	Keep []string
	// Scrub are more such names. Pseudonyms replace their values, except flags, which only Keep can record.
	Scrub []string
	// Calls are paths of Client.Do, for a recording, such as "GET /accounts/{id}/limits". The cassette keeps them without IDs.
	Calls []string
	// AllowUnused makes Stop accept recorded requests that the test did not make.
	AllowUnused bool
}

func (o Options) columns() columns {
	return columns{names: slices.Concat(o.ReportColumns, o.ReportAmounts), amounts: o.ReportAmounts}
}

// Recorder is the Transport of a client and records or replays its calls. It is safe for concurrent use; create it with
// [New] or [Start].
type Recorder struct {
	path    string
	options Options
	schema  *schema
	next    http.RoundTripper
	player  *player // for a replay
	before  []byte  // content of the older cassette when the recording started

	scrubbing sync.Mutex // guards names
	names     *pseudonyms

	mu      sync.Mutex
	taken   []*cassette.Interaction // in request order; nil for a request without a result
	leftOut []string                // operations with places
	failure error
	stopped bool
}

// New opens the cassette at path, and adds .yaml to path if missing. Call Stop at the end. A recording replaces an
// older cassette only if no other process wrote the file meanwhile.
//
// Errors: *[CassetteError] if there is nothing to replay, *[UnscrubbedError] if a cassette to replay contains values that
// must not be there.
func New(path string, options Options) (*Recorder, error) {
	r := &Recorder{
		path: strings.TrimSuffix(path, extension), options: options, schema: newSchema(), names: newPseudonyms(),
	}
	if options.Mode == ModeRecord {
		n := named{keep: options.Keep, scrub: options.Scrub, calls: options.Calls}
		if !every(n.calls, isCall) || !every(slices.Concat(n.keep, n.scrub), isColumn) {
			return nil, &CassetteError{Path: r.file(), Rule: "Options.Keep, Scrub or Calls has a name or path without the required form"}
		}
		if i := slices.IndexFunc(n.keep, r.schema.scrubs); i >= 0 {
			return nil, &CassetteError{Path: r.file(), Rule: "Options.Keep has " + n.keep[i] + ", which the SDK scrubs elsewhere: list it in Scrub"}
		}
		r.schema = r.schema.with(n)
		if r.next = options.Transport; r.next == nil {
			r.next = newTransport()
		}
		r.next = sure(r.next)
		r.before = r.content()
		return r, nil
	}
	if err := CheckFile(r.file()); err != nil {
		return nil, err
	}
	tape, err := cassette.Load(r.path)
	if err != nil {
		// A YAML reader's error contains values.
		return nil, &CassetteError{Path: r.file(), Rule: "cannot be replayed: a value has another type than in a recording"}
	}
	if len(tape.Interactions) == 0 {
		return nil, &CassetteError{Path: r.file(), Rule: "has no requests"}
	}
	if r.player, err = newPlayer(r.schema, tape); err != nil {
		return nil, err
	}
	return r, nil
}

func every(values []string, allowed func(string) bool) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !allowed(value) })
}

const extension = ".yaml"

func (r *Recorder) file() string { return r.path + extension }

// content returns the content of the cassette's file; nil if there is none.
func (r *Recorder) content() []byte {
	content, err := os.ReadFile(r.file())
	if err != nil {
		return nil
	}
	return content
}

func newTransport() http.RoundTripper {
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		return standard.Clone()
	}
	return http.DefaultTransport
}

// sure keeps net/http's proof that a request was never sent, see [transport.Wrappable].
func sure(next http.RoundTripper) http.RoundTripper {
	if standard, ok := next.(*http.Transport); ok {
		return transport.Wrappable(standard)
	}
	return next
}

// Recording reports whether requests are sent and recorded.
func (r *Recorder) Recording() bool { return r.options.Mode == ModeRecord }

// Config returns config with r as its Transport. A recording sends through the transport that config had, with its proxy and
// certificates, unless [Options].Transport is set. A replay needs no environment: Config fills in missing settings (address,
// vendor, credentials, the test environment) with fictional values, and turns the rate limit off unless config has a Limiter.
// For a replay, Config also shortens waits that config does not set: AttemptTimeout to 2 s, Retry.InFlightWait and
// Retry.MinWait to 1 ms, so that a transfer whose response was lost is repeated after 2 s instead of 40 s.
func (r *Recorder) Config(config prepaid.Config) prepaid.Config {
	own := config.Transport
	config.Transport = r
	if r.Recording() {
		switch own.(type) {
		case nil, *Recorder:
		case through: // from an earlier call
			config.Transport = own
		default:
			if r.options.Transport == nil {
				config.Transport = through{r, sure(own)}
			}
		}
		return config
	}
	config.TestEnvironment = true
	if config.BaseURL == "" {
		config.BaseURL = "https://" + serviceHost + apiRoot + "/"
	}
	if config.Vendor == "" {
		config.Vendor = recordedVendor
	}
	if config.TokenSource == nil && config.ClientID == "" {
		config.ClientID, config.ClientSecret = "replay", prepaid.NewSecret("replay")
	}
	if config.Limiter == nil {
		config.Limiter = ratelimit.None{}
	}
	// The client waits for AttemptTimeout plus InFlightWait before it repeats a lost transfer, but here no request can be in flight.
	config.AttemptTimeout = cmp.Or(config.AttemptTimeout, replayTimeout)
	config.Retry.InFlightWait = cmp.Or(config.Retry.InFlightWait, time.Millisecond)
	config.Retry.MinWait = cmp.Or(config.Retry.MinWait, time.Millisecond)
	return config
}

// replayTimeout is enough time for a response from memory on a busy machine.
const replayTimeout = 2 * time.Second

// through is a recorder with the transport of one client.
type through struct {
	recorder *Recorder
	next     http.RoundTripper
}

func (t through) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.recorder.roundTrip(req, t.next)
}

// RoundTrip records or replays one request. It implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	return r.roundTrip(req, r.next)
}

func (r *Recorder) roundTrip(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	asks := liveness.IsRead(req.Context()) // a replay may need more or fewer of these reads than the recording
	switch {
	case r.Recording() && asks:
		return next.RoundTrip(req)
	case r.Recording():
		return r.record(req, body, next)
	case asks:
		return played(req, alive(), "{}"), nil
	}
	return r.replay(req, body)
}

// readBody reads the whole body of a request and closes it, as a RoundTripper must.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	return io.ReadAll(req.Body)
}

func (r *Recorder) replay(req *http.Request, body []byte) (*http.Response, error) {
	request := r.player.schema.request(newPseudonyms(), req.Method, req.URL, body)
	found, content, err := r.player.find(req.Method, request)
	if err != nil {
		return nil, err
	}
	if found.Response.Code == 0 {
		return nil, lostError{}
	}
	return played(req, found, content), nil
}

func played(req *http.Request, found *cassette.Interaction, content string) *http.Response {
	return &http.Response{
		Status: found.Response.Status, StatusCode: found.Response.Code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        served(found.Response.Headers, askedVendor(req.Header)),
		Body:          io.NopCloser(strings.NewReader(content)),
		ContentLength: int64(len(content)),
		Request:       req,
	}
}

// alive is a response to a read by which the client asks whether the service works. The client ignores the content.
func alive() *cassette.Interaction {
	return &cassette.Interaction{Response: cassette.Response{
		Status: "200 OK", Code: http.StatusOK, Headers: http.Header{"Content-Type": {vendorType(recordedVendor)}},
	}}
}
