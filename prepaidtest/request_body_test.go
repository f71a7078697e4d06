package prepaidtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// flood is a body that never ends and counts the bytes read.
type flood struct{ taken int }

// Read fills p.
func (e *flood) Read(p []byte) (int, error) {
	e.taken += len(p)
	if e.taken > 64<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}

func TestBody_EndlessIsReadOnlySoFar(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Options{})
	body := new(flood)
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"accounts", body)
	require.NoError(t, err)
	w := new(plainWriter)
	s.ServeHTTP(w, request)
	require.Equal(t, 413, w.status)
	require.Equal(t, "close", w.Header().Get("Connection"))
	require.LessOrEqual(t, body.taken, exchange.MaxBody+exchange.MaxSurplus+64<<10)
}

// plainWriter keeps status and headers.
type plainWriter struct {
	header http.Header
	status int
}

// Header returns the headers set so far.
func (w *plainWriter) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header)
	}
	return w.header
}

// Write drops the body.
func (w *plainWriter) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader keeps the status.
func (w *plainWriter) WriteHeader(status int) { w.status = status }

func TestBody_StalledIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(t, Options{InMemory: true})
		near, err := s.network.dial(t.Context(), "", "")
		require.NoError(t, err)
		began := time.Now()
		_, err = io.WriteString(near, "POST /3.0/accounts HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{")
		require.NoError(t, err)
		status, closes := readAnswer(t, near)
		require.Equal(t, 408, status)
		require.True(t, closes)
		require.Equal(t, exchange.BodyTimeout, time.Since(began))
		require.NoError(t, near.Close())
		require.NoError(t, s.Close())
		time.Sleep(time.Second) // net/http waits before it closes a connection whose request it did not read to the end
	})
}

func readAnswer(t *testing.T, from net.Conn) (status int, closes bool) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(from), nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, response.Close
}

// The time for the body does not count against a response.
func TestBody_SlowAnswersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(t, Options{InMemory: true})
		transport := s.network.transport()
		c := &caller{Server: s, t: t, http: &http.Client{Transport: transport}}
		c.token = c.newToken()
		c.Inject("POST /accounts", Delay(3*exchange.BodyTimeout), SlowBody(exchange.BodyTimeout))
		c.post("accounts", "{}").refused(400, "invalid_request")
		got := c.post("accounts", "{}")
		require.True(t, strings.HasSuffix(string(got.body), "}"), "all of it")
		transport.CloseIdleConnections()
		require.NoError(t, s.Close())
	})
}
