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
		_, _ = io.Copy(io.Discard, r.Body) // before this, the end of the connection does not end r.Context
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

// get and pay are the requests of a silentService: a read, and a request with an effect.
func (s *silentService) get(t *testing.T, path string) Request {
	t.Helper()
	return requestTo(t, s.URL+path)
}

func (s *silentService) pay(t *testing.T, path string) Request {
	t.Helper()
	r := requestTo(t, s.URL+path)
	r.Method, r.Body, r.Effect = http.MethodPost, []byte("body"), true
	return r
}

// send sends a request, and reports the protocol and whether the connection was reused.
func (s *silentService) send(t *testing.T, r Request) (proto string, reused bool) {
	t.Helper()
	x, ctx := s.sender.Begin(t.Context(), time.Now(), time.Minute, r.Body != nil)
	defer x.End()
	response, failure := x.Send(ctx, r) //nolint:bodyclose // Read closes it
	require.NoError(t, failure.Err)
	body, err := new(Buffer).Read(ctx, response, 100)
	require.NoError(t, err)
	return string(body), x.has(seenReused)
}

// timeOut sends a request for /silent that times out when meanwhile has returned.
func (s *silentService) timeOut(t *testing.T, r Request, meanwhile func()) {
	t.Helper()
	x, ctx := s.sender.Begin(t.Context(), time.Now(), time.Minute, r.Body != nil)
	defer x.End()
	go func() {
		<-s.arrived
		meanwhile()
		x.expire()
	}()
	_, failure := x.Send(ctx, r) //nolint:bodyclose // there is none
	require.ErrorIs(t, failure.Err, ErrTimeout)
	require.Equal(t, !r.Fresh, x.has(seenReused))
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
		proto, _ := s.send(t, s.get(t, "/"))
		require.Equal(t, "HTTP/2.0", proto)
	}
	other := func() {
		proto, reused := s.send(t, s.pay(t, "/"))
		require.Equal(t, "HTTP/1.1", proto)
		require.True(t, reused)
	}
	s.send(t, s.pay(t, "/"))
	kept()
	s.timeOut(t, s.get(t, "/silent"), kept)
	require.Nil(t, s.sender.suspect.Load(), "a response arrived meanwhile")

	s.timeOut(t, s.get(t, "/silent"), other)
	suspect := s.sender.suspect.Load()
	require.NotNil(t, suspect)
	kept()
	s.send(t, s.pay(t, "/"))
	require.NoError(t, suspect.SetDeadline(time.Time{}), "a response arrived since")

	s.send(t, s.pay(t, "/"))
	s.timeOut(t, s.pay(t, "/silent"), func() { s.timeOut(t, s.get(t, "/silent"), func() {}) })
	require.Same(t, suspect, s.sender.suspect.Load(), "the payment's connection is another one")
	require.NoError(t, suspect.SetDeadline(time.Time{}))
	s.send(t, s.pay(t, "/"))
	require.ErrorIs(t, suspect.SetDeadline(time.Time{}), net.ErrClosed)
}

// A connection that is suspect is not closed because of its own response.
func TestSuspectResponds(t *testing.T) {
	t.Parallel()
	s := newSilentService(t, true, callersSender)
	x, ctx := s.sender.Begin(t.Context(), time.Now(), time.Minute, false)
	defer x.End()
	response, failure := x.Send(ctx, s.get(t, "/")) //nolint:bodyclose // Read closes it
	require.NoError(t, failure.Err)
	s.sender.suspect.Store(x.conn.Load())
	s.sender.responded(x)
	_, err := new(Buffer).Read(ctx, response, 100)
	require.NoError(t, err)
	require.NoError(t, x.conn.Load().SetDeadline(time.Time{}))
}

// With another RoundTripper, payments may share the connection.
func TestSilentConnectionOfARoundTripperStays(t *testing.T) {
	t.Parallel()
	s := newSilentService(t, true, func(base *http.Transport) *Sender { return NewSender(transportFunc(base.RoundTrip), nil) })
	s.send(t, s.get(t, "/"))
	s.timeOut(t, s.get(t, "/silent"), func() {})
	require.Nil(t, s.sender.suspect.Load())
}

// A time-out on a kept connection of HTTP/1.1 closes idle ones, but only if no kept one has responded since the request: to another
// read after a read, or to another payment after a payment. It closes none of the caller's transport.
func TestSilentConnectionClosesIdleOnes(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		sender   func(*http.Transport) *Sender
		pay      bool
		fresh    bool
		responds bool
		paid     bool
		keeps    bool
	}{
		"read":                     {sender: ownSender},
		"payment":                  {sender: callersSender, pay: true},
		"payment next to reads":    {sender: ownSender, pay: true, responds: true},
		"payment next to payments": {sender: ownSender, pay: true, paid: true, keeps: true},
		"read next to reads":       {sender: ownSender, responds: true, keeps: true},
		"read on a new connection": {sender: ownSender, fresh: true, keeps: true},
		"read over caller's own":   {sender: callersSender, keeps: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSilentService(t, false, func(base *http.Transport) *Sender {
				base.MaxIdleConnsPerHost = 3
				return x.sender(base)
			})
			request := s.get
			if x.pay {
				request = s.pay
			}
			s.warm.Add(3)
			var calls sync.WaitGroup
			for range 3 {
				calls.Go(func() { s.send(t, request(t, "/warm")) })
			}
			calls.Wait()
			s.send(t, s.get(t, "/"))
			silent := request(t, "/silent")
			silent.Fresh = x.fresh
			s.timeOut(t, silent, func() {
				if x.paid {
					_, reused := s.send(t, s.pay(t, "/"))
					require.True(t, reused)
				}
				if x.responds {
					_, reused := s.send(t, s.get(t, "/"))
					require.True(t, reused)
				}
			})
			_, reused := s.send(t, request(t, "/"))
			require.Equal(t, x.keeps, reused)
		})
	}
}
