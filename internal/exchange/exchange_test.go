package exchange

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// transportFunc is a RoundTripper of the caller's own.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func newTransport() *http.Transport { return new(http.Transport) }

func requestTo(t *testing.T, address string) Request {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
}

// try makes one exchange and reads its response, if any.
func try(t *testing.T, s *Sender, r Request) (status int, body string, failure Failure) {
	t.Helper()
	x, ctx := s.Begin(t.Context(), time.Now(), time.Minute, r.Body != nil)
	defer x.End()
	response, failure := x.Send(ctx, r)
	if response == nil {
		return 0, "", failure
	}
	read, err := new(Buffer).Read(ctx, response, 1<<20)
	return response.StatusCode, string(read), Failure{Err: err, Sent: true}
}

func TestSendsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("X-Own"), " ", string(body), " ", r.Close)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	s := NewSender(nil, newTransport)
	defer s.CloseIdle()
	r := requestTo(t, server.URL+"/a?b=c")
	r.Header.Set("X-Own", "own")
	status, _, failure := try(t, s, r)
	require.NoError(t, failure.Err)
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "GET /a?b=c own  false", <-seen)
	r.Method, r.Body, r.Fresh = http.MethodPost, []byte("content"), true
	_, _, failure = try(t, s, r)
	require.NoError(t, failure.Err)
	require.Equal(t, "POST /a?b=c own content true", <-seen)
}

// net/http would repeat a GET whose kept connection breaks. The exchange ends instead, and nothing is sent a second time.
func TestNothingIsRepeated(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	seen := make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(seen)
				return
			}
			reader := bufio.NewReader(conn)
			for n := range 2 {
				req, err := http.ReadRequest(reader)
				if err != nil {
					break
				}
				seen <- req.URL.Path
				if n == 0 {
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}
			}
			_ = conn.Close()
		}
	}()
	s := NewSender(newTransport(), nil)
	_, body, failure := try(t, s, requestTo(t, "http://"+listener.Addr().String()+"/first"))
	require.NoError(t, failure.Err)
	require.Equal(t, "ok", body)
	_, _, failure = try(t, s, requestTo(t, "http://"+listener.Addr().String()+"/second"))
	require.ErrorIs(t, failure.Err, ErrRepeated)
	require.True(t, failure.Sent)
	require.False(t, failure.MayConnect)
	require.NoError(t, listener.Close())
	var paths []string
	for path := range seen {
		paths = append(paths, path)
	}
	require.Equal(t, []string{"/first", "/second"}, paths)
}

func TestNotSentIsCertain(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = nil
	untrusted.StartTLS()
	defer untrusted.Close()
	noDial := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, refused }}
	for name, c := range map[string]struct {
		transport http.RoundTripper
		address   string
		want      Failure
	}{
		"no connection":          {noDial, "http://127.0.0.1:1", Failure{MayConnect: true}},
		"bad certificate":        {newTransport(), untrusted.URL, Failure{}},
		"another RoundTripper":   {transportFunc(func(*http.Request) (*http.Response, error) { return nil, refused }), "http://h", Failure{Sent: true}},
		"one that is certain":    {transportFunc(func(*http.Request) (*http.Response, error) { return nil, &connectError{refused} }), "http://h", Failure{MayConnect: true}},
		"one under Wrappable":    {Wrappable(noDial), "http://127.0.0.1:1", Failure{MayConnect: true}},
		"one that panics":        {transportFunc(func(*http.Request) (*http.Response, error) { panic("no") }), "http://h", Failure{Sent: true}},
		"one without a response": {transportFunc(func(*http.Request) (*http.Response, error) { return nil, nil }), "http://h", Failure{Sent: true}}, //nolint:nilnil // is the test
	} {
		_, _, failure := try(t, NewSender(c.transport, nil), requestTo(t, c.address))
		require.Error(t, failure.Err, name)
		failure.Err = nil
		require.Equal(t, c.want, failure, name)
	}
}

// No error repeats a query, a token, a debug text of HTTP/2 or a part of a response that net/http quotes.
func TestErrorsRepeatNoContent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"no way to /x?name=secret":          errQuoted,
		"no way for [Bearer T0ken]":         errQuoted,
		"T0ken is refused":                  errQuoted,
		`malformed HTTP response "secret"`:  errMalformed,
		`unexpected "secret"`:               errMalformed,
		"http2: server sent GOAWAY, secret": ErrRepeated,
	} {
		s := NewSender(transportFunc(func(*http.Request) (*http.Response, error) { return nil, errors.New(text) }), nil)
		request := requestTo(t, "http://h/x?name=secret")
		request.Header = http.Header{"Authorization": {"Bearer T0ken"}}
		_, _, failure := try(t, s, request)
		require.Equal(t, want, failure.Err, text)
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSender(transportFunc(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}), nil)
		began := time.Now()
		_, _, failure := try(t, s, requestTo(t, "http://h"))
		require.ErrorIs(t, failure.Err, ErrTimeout)
		require.Equal(t, time.Minute, time.Since(began))
		var timeout interface{ Timeout() bool }
		require.ErrorAs(t, failure.Err, &timeout)
		require.True(t, timeout.Timeout())
	})
}

// pausingBody sends one byte after each pause, and ends with its context, whose end it is given.
type pausingBody struct {
	ended  <-chan struct{}
	pauses []time.Duration
	closed bool
}

func (b *pausingBody) Read(p []byte) (int, error) {
	if len(b.pauses) == 0 {
		return 0, io.EOF
	}
	pause := b.pauses[0]
	b.pauses = b.pauses[1:]
	select {
	case <-time.After(pause):
		return copy(p, "x"), nil
	case <-b.ended:
		return 0, context.Canceled
	}
}

func (b *pausingBody) Close() error { b.closed = true; return nil }

func TestStreamBoundsPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, pauses := range map[string][]time.Duration{
			"long, without a long pause": {50 * time.Second, 50 * time.Second, 50 * time.Second},
			"a long pause":               {time.Second, 2 * time.Minute},
		} {
			x, ctx := new(Sender).Begin(t.Context(), time.Now(), 10*time.Second, false)
			body := &pausingBody{ended: ctx.Done(), pauses: pauses}
			wrapped := errors.New("wrapped")
			stream := x.Stream(ctx, body, time.Minute, func(err error) error { return fmt.Errorf("%w: %w", wrapped, err) })
			time.Sleep(time.Hour) // the time between two reads is the reader's own
			text, err := io.ReadAll(stream)
			if len(pauses) == 3 {
				require.NoError(t, err, name)
				require.Equal(t, "xxx", string(text))
			} else {
				require.ErrorIs(t, err, ErrTimeout, name)
				require.ErrorIs(t, err, wrapped)
			}
			require.Equal(t, len(pauses) == 3, ctx.Err() == nil, name)
			require.NoError(t, stream.Close())
			require.True(t, body.closed)
			require.Error(t, ctx.Err())
		}
	})
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var b Buffer
	for name, c := range map[string]struct {
		content io.Reader
		length  int64
		want    string
		err     error
	}{
		"empty":           {strings.NewReader(""), 0, "", nil},
		"at the limit":    {strings.NewReader("12345678"), 8, "12345678", nil},
		"unknown length":  {strings.NewReader("12345678"), -1, "12345678", nil},
		"beyond":          {strings.NewReader("123456789"), 9, "12345678", ErrTooLarge},
		"without its end": {io.MultiReader(strings.NewReader("123"), &brokenReader{broken}), 8, "123", broken},
	} {
		closed := false
		response := &http.Response{ContentLength: c.length, Body: &closeReporter{c.content, &closed}}
		body, err := b.Read(t.Context(), response, 8)
		require.Equal(t, c.want, string(body), name)
		require.Equal(t, c.err, err, name)
		require.True(t, closed, name)
	}
}

type brokenReader struct{ err error }

func (r *brokenReader) Read([]byte) (int, error) { return 0, r.err }

type closeReporter struct {
	io.Reader
	closed *bool
}

func (r *closeReporter) Close() error { *r.closed = true; return nil }

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "0": 0, "-1": 0, "1.5": 0, "soon": 0, "99999999999999": 365 * 24 * time.Hour,
		"Mon, 04 May 2026 03:02:11 GMT": 10 * time.Second, "Mon, 04 May 2026 03:01:11 GMT": 0,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {text}}, now), text)
		dated := http.Header{"Retry-After": {text}, "Date": {now.Format(http.TimeFormat)}}
		require.Equal(t, want, RetryAfter(dated, now.Add(10*time.Minute)), "%s, the local clock is wrong", text)
	}
}

// A fresh connection uses HTTP/1.1, unless the transport supports only HTTP/2 or dials TLS itself.
func TestFreshConnections(t *testing.T) {
	t.Parallel()
	h2 := new(http.Protocols)
	h2.SetHTTP2(true)
	own := func(context.Context, string, string) (net.Conn, error) { return nil, errors.ErrUnsupported }
	for name, c := range map[string]struct {
		transport *http.Transport
		http1     bool
	}{
		"ordinary":     {&http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{NextProtos: []string{"h2", "http/1.1"}}}, true},
		"HTTP/2 only":  {&http.Transport{Protocols: h2}, false},
		"own TLS dial": {&http.Transport{DialTLSContext: own}, false},
	} {
		fresh := freshOf(c.transport)
		require.True(t, fresh.DisableKeepAlives, name)
		require.Equal(t, c.http1, fresh.Protocols != nil && fresh.Protocols.HTTP1() && !fresh.Protocols.HTTP2(), name)
		if c.http1 {
			require.Equal(t, []string{"http/1.1"}, fresh.TLSClientConfig.NextProtos)
		}
	}
	var once *http.Request
	s := NewSender(transportFunc(func(req *http.Request) (*http.Response, error) {
		once = req
		return &http.Response{StatusCode: 204}, nil
	}), nil)
	r := requestTo(t, "http://h")
	r.Fresh = true
	status, _, failure := try(t, s, r)
	require.NoError(t, failure.Err)
	require.Equal(t, 204, status)
	require.True(t, once.Close)
	require.NotNil(t, once.Body, "net/http repeats a GET without a body")
}

// A process that was suspended while it connected writes nothing after the exchange's time, although no timer has fired yet; and a
// watched exchange then gets no more time.
func TestNothingIsWrittenAfterTheTime(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer server.Close()
	s := NewSender(new(http.Transport), nil)
	defer s.CloseIdle()
	r := requestTo(t, server.URL)
	r.Method, r.Body, r.Effect = http.MethodPost, []byte("content"), true
	x, ctx := s.Begin(t.Context(), time.Now(), time.Hour, true)
	x.ends = 0
	response, failure := x.Send(ctx, r)
	x.End()
	require.Nil(t, response)
	require.ErrorIs(t, failure.Err, ErrTimeout)
	require.Zero(t, arrived.Load())

	x, ctx = s.BeginWatched(t.Context(), time.Now(), time.Hour, func(context.Context, string, time.Time) { t.Error("watched") }, "")
	x.ends = 0
	x.timer.Reset(0)
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), ErrTimeout)
}
