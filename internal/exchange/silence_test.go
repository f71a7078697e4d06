package exchange

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silentService responds to all requests but those for /silent.
type silentService struct {
	*httptest.Server

	sender  *Sender
	arrived chan bool      // a request for /silent
	warm    sync.WaitGroup // until all requests for /warm have arrived
}

func newSilentService(t *testing.T, http2 bool, sender func(*http.Transport) *Sender) *silentService {
	t.Helper()
	s := &silentService{arrived: make(chan bool)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/silent":
			s.arrived <- true
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // a response could still arrive
		case "/warm":
			s.warm.Done()
			s.warm.Wait()
		}
		_, _ = io.WriteString(w, r.Proto) //nolint:gosec // no page
	}))
	s.EnableHTTP2 = http2
	s.StartTLS()
	s.sender = sender(s.Client().Transport.(*http.Transport))
	t.Cleanup(func() {
		s.sender.CloseIdle()
		s.Client().CloseIdleConnections()
		s.Close()
	})
	return s
}

// read makes a read, and reports the protocol and whether the connection was reused.
func (s *silentService) read(t *testing.T, path string, fresh bool) (proto string, reused bool) {
	t.Helper()
	x, ctx := s.sender.Begin(t.Context(), time.Minute, false)
	defer x.End()
	r := requestTo(t, s.URL+path)
	r.Fresh = fresh
	response, failure := x.Send(ctx, r) //nolint:bodyclose // Read closes it
	require.NoError(t, failure.Err)
	body, err := new(Buffer).Read(ctx, response, 100)
	require.NoError(t, err)
	return string(body), x.has(seenReused)
}

// timeOut makes a read that times out when meanwhile has returned.
func (s *silentService) timeOut(t *testing.T, meanwhile func()) {
	t.Helper()
	x, ctx := s.sender.Begin(t.Context(), time.Minute, false)
	defer x.End()
	go func() {
		<-s.arrived
		meanwhile()
		x.expire()
	}()
	_, failure := x.Send(ctx, requestTo(t, s.URL+"/silent")) //nolint:bodyclose // there is none
	require.ErrorIs(t, failure.Err, ErrTimeout)
	require.True(t, x.has(seenReused))
}

func ownSender(base *http.Transport) *Sender {
	return NewSender(nil, func() *http.Transport { return base })
}

func callersSender(base *http.Transport) *Sender { return NewSender(base, nil) }

// A connection of HTTP/2 that stays silent until a time-out is closed as soon as the service responds on another one, but not if it
// has carried a response since the request.
func TestSilentHTTP2ConnectionIsClosed(t *testing.T) {
	t.Parallel()
	s := newSilentService(t, true, callersSender)
	kept := func() {
		proto, _ := s.read(t, "/", false)
		require.Equal(t, "HTTP/2.0", proto)
	}
	other := func() {
		proto, reused := s.read(t, "/", true)
		require.Equal(t, "HTTP/1.1", proto)
		require.False(t, reused)
	}
	kept()
	s.timeOut(t, kept)
	require.Nil(t, s.sender.suspect.Load(), "a response arrived meanwhile")

	s.timeOut(t, other)
	suspect := s.sender.suspect.Load()
	require.NotNil(t, suspect)
	kept()
	other()
	require.NoError(t, suspect.SetDeadline(time.Time{}), "a response arrived since")

	s.timeOut(t, other)
	require.Same(t, suspect, s.sender.suspect.Load())
	require.NoError(t, suspect.SetDeadline(time.Time{}))
	other()
	require.ErrorIs(t, suspect.SetDeadline(time.Time{}), net.ErrClosed)
}

// A time-out on a kept connection of HTTP/1.1 closes idle ones, unless a kept one has responded since the request. It closes none of the
// caller's transport.
func TestSilentConnectionClosesIdleOnes(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		sender   func(*http.Transport) *Sender
		responds bool
		keeps    bool
	}{{ownSender, false, false}, {ownSender, true, true}, {callersSender, false, true}} {
		s := newSilentService(t, false, func(base *http.Transport) *Sender {
			base.MaxIdleConnsPerHost = 3
			return x.sender(base)
		})
		s.warm.Add(3)
		var reads sync.WaitGroup
		for range 3 {
			reads.Go(func() { s.read(t, "/warm", false) })
		}
		reads.Wait()
		s.timeOut(t, func() {
			if x.responds {
				s.read(t, "/", false)
			}
		})
		_, reused := s.read(t, "/", false)
		require.Equal(t, x.keeps, reused)
	}
}
