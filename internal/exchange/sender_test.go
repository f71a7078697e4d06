package exchange

import (
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Concurrent requests with an effect have a connection each, even on a transport that supports only HTTP/2. So have requests with
// Fresh.
func TestConnectionsAreNotShared(t *testing.T) {
	t.Parallel()
	const all = 8
	http2 := new(http.Protocols)
	http2.SetUnencryptedHTTP2(true)
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "HTTP/2 only": http2} {
		for _, wrapped := range []bool{false, true} {
			var mu sync.Mutex
			arrived, connections := 0, map[string]bool{}
			together := make(chan struct{})
			respond := sync.OnceFunc(func() { close(together) })
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				connections[r.RemoteAddr] = true
				if arrived++; arrived == all {
					respond()
				}
				mu.Unlock()
				<-together
			}))
			server.Config.Protocols = protocols
			server.Start()
			own := &http.Transport{Protocols: protocols}
			transport := http.RoundTripper(own)
			if wrapped {
				transport = transportFunc(Wrappable(own).RoundTrip)
			}
			s := NewSender(transport, nil)
			var connected, sent sync.WaitGroup
			connected.Add(all)
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
				connected.Done()
				connected.Wait() // so that all look for a connection before the first is in use
			}})
			for i := range all {
				sent.Go(func() {
					r := requestTo(t, server.URL)
					r.Method, r.Body, r.Effect, r.Fresh = http.MethodPost, []byte("content"), true, i%2 == 0
					x, ctx := s.Begin(ctx, time.Minute, true)
					response, failure := x.Send(ctx, r)
					defer x.End()
					if response != nil {
						_ = response.Body.Close()
					} else {
						t.Error(name, failure.Err)
						respond()
					}
				})
			}
			sent.Wait()
			require.Len(t, connections, all, "%s, wrapped %v", name, wrapped)
			s.CloseIdle()
			server.Close()
		}
	}
}
