package prepaidvcr

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Mode is the source of responses.
type Mode uint8

const (
	// ModeReplay, the zero value, takes responses from the cassette, without the network.
	ModeReplay Mode = iota
	// ModeRecord sends every request and writes a new cassette.
	ModeRecord
)

// ModeVariable is the environment variable that makes [Start] record instead of replay.
const ModeVariable = "PREPAID_VCR"

// recordWord is ModeVariable's value for a recording.
const recordWord = "record"

// Options are the settings of a [Recorder].
type Options struct {
	// Mode is ModeReplay by default; Start takes it from the environment.
	Mode Mode
	// Keep are names, for a recording, that the SDK does not know: members and parameters of Client.Do, and new members of
	// responses. The cassette keeps them with their values and lists them. Name nothing that has secrets or personal data;
	// a name that the SDK itself scrubs, such as hmac_key_secret, is refused. Below a report's column of this name, amounts are kept:
	// whole numbers and decimals of at most ten digits before and four after the point.
	Keep []string
	// Scrub are more such names. Pseudonyms replace their values, except flags, which only Keep can record. A report's first row keeps
	// names of columns that are in Keep or Scrub.
	Scrub []string
	// Calls are paths of Client.Do, for a recording, such as "GET /accounts/{id}/limits". The cassette keeps them without IDs.
	Calls []string
	// AllowUnused makes Stop accept recorded requests that the test did not make.
	AllowUnused bool
}

// Recorder is the Transport of a client and records or replays its calls. It is safe for concurrent use; create it with
// [New] or [Start].
type Recorder struct {
	options Options
	tape    *tape   // of a recording
	player  *player // of a replay
}

const extension = ".yaml"

// New opens the cassette at path, and adds .yaml to path if missing. Call Stop at the end. A recording replaces an older cassette.
//
// Errors: *[CassetteError] if there is nothing to replay.
func New(path string, options Options) (*Recorder, error) {
	r, err := &Recorder{options: options}, error(nil)
	path = strings.TrimSuffix(path, extension)
	if options.Mode == ModeRecord {
		r.tape, err = newTape(path, names{keep: options.Keep, scrub: options.Scrub, calls: options.Calls})
	} else {
		r.player, err = load(path)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Start opens the cassette at path for a test and stops it with the test. It ignores options.Mode: it records if
// PREPAID_VCR is "record" (go test then needs -count=1, or it may use a cached result). Otherwise it replays. The test
// fails if the cassette is missing or cannot be written, or if recorded requests were not made.
// Only a test that ran to its end without failing writes a cassette: if the test failed, was skipped or panicked, the
// recording is dropped, and the old cassette stays.
func Start(t testing.TB, path string, options Options) *Recorder {
	t.Helper()
	options.Mode = ModeReplay
	switch os.Getenv(ModeVariable) {
	case "":
	case recordWord:
		options.Mode = ModeRecord
	default:
		t.Fatalf("prepaidvcr: %s must be empty or %q", ModeVariable, recordWord)
	}
	recorder, err := New(path, options)
	if err != nil {
		t.Fatalf("%v (%s=%s go test -count=1 records it)", err, ModeVariable, recordWord)
	}
	t.Cleanup(func() {
		if err := recorder.stop(!t.Failed() && !t.Skipped() && !unwinding()); err != nil && !t.Failed() && !t.Skipped() {
			t.Error(err)
		}
	})
	return recorder
}

// unwinding reports whether the caller runs because of a panic or runtime.Goexit, not because a function returned.
// During the cleanups of a panicking test, the test does not count as failed yet: only the stack shows the panic.
func unwinding() bool {
	const most = 256
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}

// Stop ends a recording and writes its cassette, or reports requests that a replay did not make. The second call for a recording has no
// effect.
//
// A recording is not written if it ends in a panic or runtime.Goexit (as in t.FailNow), if it has no requests, or if it would leave out
// values. Requests after the end of a recording fail as not sent.
//
// Errors: *[UnusedError], *[CassetteError].
func (r *Recorder) Stop() error { return r.stop(!unwinding()) }

func (r *Recorder) stop(complete bool) error {
	if r.Recording() {
		return r.tape.stop(complete)
	}
	if unused := r.player.unused(); len(unused) > 0 && !r.options.AllowUnused {
		return &UnusedError{Operations: unused}
	}
	return nil
}

// Recording reports whether requests are sent and recorded.
func (r *Recorder) Recording() bool { return r.tape != nil }

// Config returns config with r as its Transport. A recording sends through the transport that config had, with its proxy and
// certificates; clients of one recorder share the last one. A replay needs no environment: Config fills in missing settings (address,
// vendor, credentials, the test environment) with fictional values, and turns the rate limit off unless config has a Limiter.
// For a replay, Config also shortens waits that config does not set: AttemptTimeout to 2 s, Retry.InFlightWait and
// Retry.MinWait to 1 ms, so that a transfer whose response was lost is repeated after 2 s instead of 40 s.
func (r *Recorder) Config(config prepaid.Config) prepaid.Config {
	own := config.Transport
	config.Transport = r
	if r.Recording() {
		if own != nil && own != http.RoundTripper(r) {
			r.tape.use(own)
		}
		return config
	}
	config.TestEnvironment = true
	config.BaseURL = cmp.Or(config.BaseURL, serviceAddress+"/")
	config.Vendor = cmp.Or(config.Vendor, recordedVendor)
	if config.Token == nil && config.ClientID == "" {
		config.ClientID, config.ClientSecret = "replay", prepaid.NewSecret("replay")
	}
	if config.Limiter == nil {
		config.Limiter = ratelimit.None{}
	}
	// The client waits for AttemptTimeout plus InFlightWait before it repeats a lost transfer, but here no request can be in flight.
	const replayTimeout = 2 * time.Second // enough for a response from memory on a busy machine
	config.AttemptTimeout = cmp.Or(config.AttemptTimeout, replayTimeout)
	config.Retry.InFlightWait = cmp.Or(config.Retry.InFlightWait, time.Millisecond)
	config.Retry.MinWait = cmp.Or(config.Retry.MinWait, time.Millisecond)
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
	switch asks := liveness.IsRead(req.Context()); {
	case r.Recording():
		return r.tape.roundTrip(req, body, asks)
	case asks:
		return played(req, ok(), "{}"), nil // the client ignores the content
	}
	return r.player.roundTrip(req, body)
}

// readBody reads the whole body of a request and closes it, as a RoundTripper must.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }()
	return io.ReadAll(req.Body)
}
