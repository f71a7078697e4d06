package faults

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Over HTTP/2 the first token request shares its connection with the calls that follow. Over HTTP/1.1, where net/http logs
// the bytes after a token, it does not: the calls use the connection on which HTTP/2 was not found.
func TestFirstTokenLeads(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{true, false} {
		var connections, tokens atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != http2 {
				t.Errorf("HTTP/%d of %s", r.ProtoMajor, r.URL.Path)
			}
			w.Header().Set("Content-Type", harness.VendorJSON)
			if r.URL.Path != "/3.0/token" {
				_, _ = io.WriteString(w, harness.AccountJSON)
				return
			}
			tokens.Add(1)
			if r.Close == http2 {
				t.Errorf("the token's connection is closed: %v", r.Close)
			}
			_, _ = io.WriteString(w, `{"access_token":"token","token_type":"Bearer","expires_in":3600}`)
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.EnableHTTP2 = http2
		server.StartTLS()
		t.Cleanup(server.Close)
		config := harness.Config(server.URL)
		config.Token, config.Transport = nil, server.Client().Transport
		config.ClientID, config.ClientSecret = "id", prepaid.NewSecret("secret")
		client := harness.NewClient(t, config)
		for range 3 {
			require.NoError(t, harness.OpGet().Call(t.Context(), client))
		}
		require.EqualValues(t, 1, tokens.Load())
		require.EqualValues(t, map[bool]int{true: 1, false: 2}[http2], connections.Load())
		server.Client().CloseIdleConnections()
	}
}

// resettingHTTP2 takes whole requests and then resets their stream with PROTOCOL_ERROR, as a gateway does that met a
// malformed response after it. net/http would send such a request again without end, whatever its method. With leaving it says
// GOAWAY in place of that and closes.
func resettingHTTP2(t *testing.T, plain, leaving bool) (base string, transport *http.Transport, requests *atomic.Int32) {
	t.Helper()
	certificates := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate and its client's roots
	t.Cleanup(certificates.Close)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: certificates.TLS.Certificates, NextProtos: []string{"h2"},
	})
	require.NoError(t, err)
	if plain {
		require.NoError(t, listener.Close())
		listener, err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	requests = new(atomic.Int32)
	var serving sync.WaitGroup
	done := make(chan struct{})
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { resetStreams(conn, leaving, requests) })
			serving.Go(func() {
				<-done
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		close(done)
		serving.Wait()
	})
	transport = certificates.Client().Transport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols) // HTTP/2 only: requests that are never repeated would go out over HTTP/1.1
	transport.Protocols.SetHTTP2(!plain)
	transport.Protocols.SetUnencryptedHTTP2(plain)
	t.Cleanup(transport.CloseIdleConnections)
	if plain {
		return "http://" + listener.Addr().String() + "/3.0/", transport, requests
	}
	return "https://" + listener.Addr().String() + "/3.0/", transport, requests
}

func resetStreams(conn net.Conn, leaving bool, requests *atomic.Int32) {
	defer conn.Close()
	const (
		headers, reset, settings, goAway = 1, 3, 4, 7
		endStream, ack                   = 1, 1
		protocolError                    = 1
	)
	frame := func(kind, flags, length byte, stream uint32, payload ...byte) {
		head := []byte{0, 0, length, kind, flags, 0, 0, 0, 0}
		binary.BigEndian.PutUint32(head[5:], stream)
		_, _ = conn.Write(append(head, payload...))
	}
	if _, err := io.ReadFull(conn, make([]byte, 24)); err != nil { // the preface
		return
	}
	frame(settings, 0, 0, 0)
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == settings && flags&ack == 0:
			frame(settings, ack, 0, 0)
		case kind <= headers && flags&endStream != 0 && stream != 0: // HEADERS or DATA: the request is whole
			requests.Add(1)
			if leaving {
				frame(goAway, 0, 8, 0, 0, 0, 0, byte(stream), 0, 0, 0, 0) //nolint:gosec // small
				_ = conn.(interface{ CloseWrite() error }).CloseWrite()
				continue
			}
			frame(reset, 0, 4, stream, 0, 0, 0, protocolError)
		}
	}
}

// A request that may have arrived is not sent again by the HTTP/2 client below us, whatever its method, over TLS or not.
func TestHTTP2ResetIsNotRepeatedBelowUs(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		plain, leaving := i%2 == 1, i > 1
		for _, op := range []harness.Op{harness.OpRedeem(), harness.OpCreate(), harness.OpActivate(), harness.OpStart(), harness.OpTransfer(), harness.OpGet(), harness.OpPlastic()} {
			t.Run(fmt.Sprintf("%s/plain %t/leaving %t", op.Name, plain, leaving), func(t *testing.T) {
				t.Parallel()
				base, transport, requests := resettingHTTP2(t, plain, leaving)
				config := harness.Config("https://cards.example")
				config.BaseURL, config.Transport, config.Retry.MaxAttempts = base, transport, 1
				err := op.Call(t.Context(), harness.NewClient(t, config))
				failure := harness.CallError(t, err)
				// No text of net/http about its own repeat. Its report of a reset depends on its version.
				require.Regexp(t, "the connection ended without a response|stream error: .*; received from peer$", err.Error())
				if op.Name == harness.OpGet().Name {
					require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
					require.EqualValues(t, failure.Attempts, requests.Load())
					require.LessOrEqual(t, failure.Attempts, 2, "one of them instead of net/http's")
					return
				}
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
				require.EqualValues(t, 1, requests.Load())
				require.Equal(t, 1, failure.Attempts)
			})
		}
	}
}
