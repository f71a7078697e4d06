package contract

import (
	"context"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

// net/http quotes malformed responses in its errors, and a proxy in front may have echoed the request there.
func TestCanaryMalformedHTTP(t *testing.T) {
	quietStandardLog(t, io.Discard) // see TestCanaryStandardLog
	calls := slices.DeleteFunc(canaryCalls(t), func(c canaryCall) bool {
		return !slices.Contains([]string{"Accounts.Create", "Accounts.SearchCompany", "Reporting.Run"}, c.name)
	})
	const ok = "HTTP/1.1 200 OK\r\n"
	const chunked = ok + "Transfer-Encoding: chunked\r\n"
	echo := canaryOf("Wire", "Echo")
	for name, response := range map[string]string{
		"no HTTP":             echo + "\r\n\r\n",
		"version":             "HTTP/" + echo + " 200 OK\r\n\r\n",
		"status":              "HTTP/1.1 " + echo + "\r\n\r\n",
		"long status":         "HTTP/1.1 2000 " + echo + "\r\n\r\n",
		"reason":              "HTTP/1.1 599 " + echo + "\r\nContent-Length: 0\r\n\r\n",
		"header line":         ok + echo + "\r\n\r\n",
		"first header line":   ok + " " + echo + ": a\r\n\r\n",
		"header name":         ok + "A " + echo + ": a\r\n\r\n",
		"header value":        ok + "A: \x00" + echo + "\r\n\r\n",
		"length":              ok + "Content-Length: " + echo + "\r\n\r\n",
		"negative length":     ok + "Content-Length: -1 " + echo + "\r\n\r\n",
		"two lengths":         ok + "Content-Length: 1\r\nContent-Length: " + echo + "\r\n\r\n",
		"encoding":            ok + "Transfer-Encoding: " + echo + "\r\n\r\n",
		"two encodings":       ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: " + echo + "\r\n\r\n",
		"chunk size":          chunked + "\r\n" + echo + "\r\n\r\n",
		"chunk":               chunked + "\r\n3\r\nabc" + echo + "\r\n0\r\n\r\n",
		"trailer":             chunked + "Trailer: X\r\n\r\n1\r\na\r\n0\r\n" + echo + "\r\n\r\n",
		"trailer key":         chunked + "Trailer: Content-Length, " + echo + "\r\n\r\n0\r\n\r\n",
		"no trailer":          chunked + "Trailer: " + echo + "\r\n\r\n0\r\nX",
		"cut body":            ok + "Content-Length: 500\r\n\r\n" + echo,
		"cut header":          ok + "A: " + echo,
		"nothing":             "",
		"gzip":                ok + "Content-Encoding: gzip\r\nContent-Length: 18\r\n\r\n" + echo,
		"switching":           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + echo + "\r\nConnection: Upgrade\r\n\r\n" + echo,
		"early hints":         "HTTP/1.1 103 Early Hints\r\nLink: " + echo + "\r\n\r\n" + echo + "\r\n\r\n",
		"large header":        ok + "A: " + strings.Repeat(echo, 1<<20/len(echo)+500) + "\r\n\r\n",
		"204 with a body":     "HTTP/1.1 204 " + echo + "\r\nContent-Length: 9\r\n\r\n" + echo,
		"two responses":       ok + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}" + ok + "A: " + echo + "\r\n\r\n",
		"page":                ok + "Content-Type: text/html\r\nContent-Length: 18\r\n\r\n<html>" + echo,
		"HTTP/2":              "\x00\x00\x12\x04\x00\x00\x00\x00\x00" + echo,
		"redirect to nowhere": "HTTP/1.1 302 " + echo + "\r\nLocation: :" + echo + "\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var w canaryWatch
				config := onPipes(t, &w, response, true)
				for range 2 {
					client := harness.NewClient(t, config)
					for _, c := range calls {
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						err := c.call(ctx, client)
						cancel()
						require.True(t, err != nil || c.name != "Accounts.Create")
						requireQuietError(t, c.name, err)
					}
					require.NoError(t, client.Close())
					requireNothingSeen(t, "log and trace", w.take())
					config.Token = nil
				}
			})
		})
	}
}

// quietStandardLog redirects the standard logger. A test that calls it does not run in parallel to others.
func quietStandardLog(t *testing.T, to io.Writer) {
	t.Helper()
	before := log.Writer()
	log.SetOutput(to)
	t.Cleanup(func() { log.SetOutput(before) })
}

// followed are responses with extra bytes, which net/http would print if it kept the connection.
func followed(echo string) map[string]string {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	return map[string]string{
		"204 with a body":         "HTTP/1.1 204 No Content\r\nContent-Type: application/json\r\n\r\n" + echo,
		"length in characters":    ok + echo,
		"the same response twice": ok + ok + echo,
	}
}

// onPipes returns the settings of a client whose requests all get the same bytes, or one on each connection.
func onPipes(t *testing.T, w *canaryWatch, response string, once bool) prepaid.Config {
	t.Helper()
	server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
		if p.Send(response); once {
			_ = p.Close()
		}
	})
	pipes := server.Transport()
	t.Cleanup(pipes.CloseIdleConnections)
	config := canaryConfig(w, nil, false)
	config.BaseURL, config.Transport, config.Token = server.Address+"/3.0/", pipes, harness.StaticToken("t")
	return config
}

// net/http writes the bytes that follow a response on a kept connection to the standard logger, and has no option not
// to. Calls that are never repeated or have no response body, the poll of a report and the token keep no connection, so that
// nothing of theirs is printed.
func TestCanaryStandardLog(t *testing.T) {
	var standard canaryWatch
	quietStandardLog(t, &standard)
	calls := canaryCalls(t)
	for name, response := range followed(canaryOf("Wire", "Body")) {
		synctest.Test(t, func(t *testing.T) {
			keeps, quiet, loud := false, 0, 0
			config := onPipes(t, new(canaryWatch), response, false)
			config.Trace = &prepaid.Trace{AttemptStart: func(ctx context.Context, op prepaid.Operation, _ int) context.Context {
				keeps = keeps || op.Method == http.MethodGet && !strings.HasPrefix(op.Path, "/reporting/") ||
					strings.HasSuffix(op.Path, "/transfer") || strings.HasSuffix(op.Path, "/directentryout")
				return ctx
			}}
			client := harness.NewClient(t, config)
			for _, c := range calls {
				keeps = false
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				_ = c.call(ctx, client)
				synctest.Wait() // net/http prints in a goroutine
				cancel()
				printed := standard.take()
				if keeps && len(canariesIn(printed)) > 0 {
					loud++
				} else if !keeps {
					quiet++
					requireNothingSeen(t, name+": the standard log after "+c.name, printed)
				}
			}
			config.Token = nil
			_, _ = harness.NewClient(t, config).Token(t.Context())
			synctest.Wait()
			requireNothingSeen(t, name+": the standard log after a token request", standard.take())
			require.Greater(t, quiet, 20)
			require.Greater(t, loud, 5)
		})
	}
}

// The writer for the standard logger leaves out the lines that net/http prints, and nothing else.
func TestCanaryDropUnsolicited(t *testing.T) {
	for name, response := range followed(canaryOf("Wire", "Body")) {
		for _, dropped := range []bool{false, true} {
			var standard canaryWatch
			quietStandardLog(t, &standard)
			if dropped {
				log.SetOutput(transport.DropUnsolicited(log.Writer()))
			}
			synctest.Test(t, func(t *testing.T) {
				client := harness.NewClient(t, onPipes(t, new(canaryWatch), response, false))
				_, _ = prepaid.Collect(client.Accounts.SearchCompany(t.Context(), 7, prepaid.SearchCompanyParams{}), 1)
				synctest.Wait() // net/http prints in a goroutine
				log.Print("a line of the application")
				text := standard.take()
				require.Contains(t, text, "a line of the application")
				require.Equal(t, !dropped, len(canariesIn(text)) > 0, name)
			})
		}
	}
}
