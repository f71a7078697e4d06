package prepaid_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const gigabyte = 1 << 30

// allocated is the number of bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// pour writes chunks until limit or until the client has had enough, and returns what went out.
func pour(p *peer, chunk []byte, limit int) int64 {
	sent := int64(0)
	for sent < int64(limit) {
		n, err := p.Write(chunk)
		sent += int64(n)
		if err != nil {
			break
		}
	}
	_ = p.Close()
	return sent
}

// Whatever the service, or what stands in for it, pours out: little is read of it and less is kept. Serial, so that
// the allocations are those of the call.
func TestAnswersAreReadBounded(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	var bomb bytes.Buffer
	packer, err := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
	require.NoError(t, err)
	_, err = packer.Write(make([]byte, 4<<20))
	require.NoError(t, err)
	require.NoError(t, packer.Close())

	var poured atomic.Int64
	faults := map[string]struct {
		answer func(p *peer)
		check  func(t *testing.T, err error)
	}{
		"error body": {
			func(p *peer) {
				p.write(fmt.Sprintf("HTTP/1.1 400 X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", vendorJSON, gigabyte))
				poured.Add(pour(p, chunk, gigabyte))
			},
			func(t *testing.T, err error) {
				t.Helper()
				require.ErrorIs(t, err, prepaid.ErrBadRequest)
				failure, ok := errors.AsType[*prepaid.APIError](err)
				require.True(t, ok)
				require.Len(t, failure.Body, 64<<10)
			},
		},
		"error body without a length": {
			func(p *peer) {
				p.write("HTTP/1.1 403 X\r\nContent-Type: text/html\r\n\r\n")
				poured.Add(pour(p, chunk, gigabyte))
			},
			func(t *testing.T, err error) {
				t.Helper()
				require.ErrorIs(t, err, prepaid.ErrForbidden)
			},
		},
		"success": {
			func(p *peer) {
				p.write(fmt.Sprintf("HTTP/1.1 200 X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", vendorJSON, gigabyte))
				poured.Add(pour(p, chunk, gigabyte))
			},
			tooLarge,
		},
		"gzip bomb": {
			func(p *peer) {
				p.write("HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Type: " + vendorJSON + "\r\n\r\n")
				poured.Add(pour(p, bomb.Bytes(), gigabyte/(4<<20)*bomb.Len()))
			},
			tooLarge,
		},
		"headers": {
			func(p *peer) {
				p.write("HTTP/1.1 200 X\r\n")
				poured.Add(pour(p, []byte(strings.Repeat("X-Filler: "+strings.Repeat("y", 1000)+"\r\n", 60)), gigabyte))
			},
			func(t *testing.T, err error) {
				t.Helper()
				failure, ok := errors.AsType[*prepaid.TransportError](err)
				require.True(t, ok)
				require.True(t, failure.Sent)
				require.Equal(t, "answer", failure.Step)
			},
		},
		"a header without an end": {
			func(p *peer) {
				p.write("HTTP/1.1 200 X\r\nX-Filler: ")
				poured.Add(pour(p, chunk, gigabyte))
			},
			func(t *testing.T, err error) {
				t.Helper()
				_, ok := errors.AsType[*prepaid.TransportError](err)
				require.True(t, ok)
			},
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			poured.Store(0)
			server := newWireServer(t, func(_ int, p *peer) { fault.answer(p) })
			config := coreConfig(server.address)
			config.MaxResponseBytes = 1 << 20
			config.Retry.MaxAttempts = 1
			client := newCoreClient(t, config)
			before := allocated()
			err := opGet().call(t.Context(), client)
			used := allocated() - before
			fault.check(t, err)
			require.Less(t, used, uint64(24<<20), "memory")
			require.Eventually(t, func() bool { return poured.Load() > 0 }, 5*time.Second, time.Millisecond, "the server is rid of the client")
			require.Less(t, poured.Load(), int64(64<<20), "bytes on the wire")
		})
	}
}

func tooLarge(t *testing.T, err error) {
	t.Helper()
	require.ErrorContains(t, err, "larger than MaxResponseBytes")
	require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
}

// A body may be as long as the limit, to the byte.
func TestMaxResponseBytes(t *testing.T) {
	t.Parallel()
	for extra, ok := range map[int]bool{0: true, 1: false} {
		body := accountJSON + strings.Repeat(" ", 1000+extra)
		config := coreConfig("https://cards.example")
		config.MaxResponseBytes = int64(len(accountJSON) + 1000)
		config.Transport = scripted(answered(200, vendorJSON, body))
		err := opGet().call(t.Context(), newCoreClient(t, config))
		require.Equal(t, ok, err == nil, "%v", err)
	}
}

// A trickle is bounded by the attempt's time. Of an error answer the status is enough.
func TestTrickle(t *testing.T) {
	t.Parallel()
	trickle := func(head string) func(int, *peer) {
		return func(_ int, p *peer) {
			p.write(head)
			for range 400 {
				if _, err := p.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for name, tc := range map[string]struct {
		head  string
		op    coreOp
		check func(t *testing.T, err error)
	}{
		"success": {
			"HTTP/1.1 200 X\r\nContent-Type: " + vendorJSON + "\r\nContent-Length: 1000\r\n\r\n", opGet(),
			func(t *testing.T, err error) {
				t.Helper()
				require.ErrorContains(t, err, "no answer (body): attempt timed out")
				require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
			},
		},
		"error": {
			"HTTP/1.1 409 X\r\nContent-Length: 1000\r\n\r\n", opTransfer(),
			func(t *testing.T, err error) {
				t.Helper()
				require.ErrorIs(t, err, prepaid.ErrConflict)
				require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome, "its form did not arrive")
			},
		},
		"headers": {
			"HTTP/1.1 200 X\r\nX-Slow: ", opCreate(),
			func(t *testing.T, err error) {
				t.Helper()
				require.ErrorContains(t, err, "no answer (answer): attempt timed out")
				require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newWireServer(t, trickle(tc.head))
			config := coreConfig(server.address)
			config.AttemptTimeout = 100 * time.Millisecond
			config.Retry.MaxAttempts = 1
			began := time.Now()
			tc.check(t, tc.op.call(t.Context(), newCoreClient(t, config)))
			require.Less(t, time.Since(began), 3*time.Second)
			require.Len(t, server.seen(), 1)
		})
	}
}

// An informational answer before the real one is passed over.
func TestInformationalAnswers(t *testing.T) {
	t.Parallel()
	server := newWireServer(t, func(_ int, p *peer) {
		p.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
		p.succeed(opTransfer())
	})
	require.NoError(t, opTransfer().call(t.Context(), newCoreClient(t, coreConfig(server.address))))
}

// Compressed answers are read whatever the encoding's case of use.
func TestGzipAnswer(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, err := packer.Write([]byte(accountJSON))
	require.NoError(t, err)
	require.NoError(t, packer.Close())
	server := newWireServer(t, func(_ int, p *peer) {
		if !strings.Contains(p.request.header.Get("Accept-Encoding"), "gzip") {
			t.Error("compression was not offered")
		}
		p.respond(http.StatusOK, vendorJSON, packed.String(), "Content-Encoding: gzip")
	})
	require.NoError(t, opGet().call(t.Context(), newCoreClient(t, coreConfig(server.address))))
}
