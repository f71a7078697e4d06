package contract

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

// sayAlways responds to every request with the same bytes, and then closes the connection unless keep is true.
func sayAlways(t *testing.T, response string, keep bool) string {
	t.Helper()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) {
		if _, err := io.WriteString(p, response); err != nil || !keep {
			_ = p.Close()
		}
	})
	return server.Address + "/3.0/"
}

// net/http quotes malformed responses in its errors, and a proxy in front may have echoed the request there.
func TestCanaryMalformedHTTP(t *testing.T) {
	quietStandardLog(t, io.Discard) // see TestCanaryStandardLog
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
			for _, builtIn := range []bool{true, false} {
				var w canaryWatch
				config := canaryConfig(&w, nil, false)
				config.BaseURL, config.Transport = sayAlways(t, response, false), nil
				if !builtIn {
					config.TokenSource = harness.StaticToken(canaryOf("Token", "Access"))
				}
				client, err := prepaid.NewClient(config)
				require.NoError(t, err)
				_, err = client.Accounts.Create(t.Context(), canaryCreate())
				require.Error(t, err)
				requireQuietError(t, "Create", err)
				if builtIn { // a further call would wait for the token manager's pause
					require.NoError(t, client.Close())
					requireNothingSeen(t, "log and trace", w.take())
					continue
				}
				_, err = prepaid.Collect(client.Accounts.SearchCompany(t.Context(), 7, prepaid.SearchCompanyParams{FirstName: canaryOf("Query", "FirstName")}), 1)
				requireQuietError(t, "SearchCompany", err)
				err = readReport(client.Reporting.Run(t.Context(), "t", prepaid.RunReportParams{}))
				requireQuietError(t, "Run", err)
				require.NoError(t, client.Close())
				requireNothingSeen(t, "log and trace", w.take())
			}
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

// net/http writes the bytes that follow a response on a kept connection to the standard logger, and has no option not
// to. Calls that are never repeated or have no response body, the poll of a report and the token keep no connection, so that
// nothing of theirs is printed.
func TestCanaryStandardLog(t *testing.T) {
	var standard canaryWatch
	quietStandardLog(t, &standard)
	for name, response := range followed(canaryOf("Wire", "Body")) {
		base := sayAlways(t, response, true)
		quiet, loud := 0, 0
		for _, c := range canaryCalls(t) {
			if c.name == "Reporting.Run" || c.name == "Reporting.Open" || c.name == "Accounts.Issue" || c.name == "Accounts.FindCreated" {
				continue // made of others, with pauses
			}
			keeps := false
			config := canaryConfig(new(canaryWatch), nil, false)
			config.BaseURL, config.Transport = base, nil
			if c.name != "Token" {
				config.TokenSource = harness.StaticToken("t")
			}
			config.Trace = &prepaid.Trace{AttemptStart: func(ctx context.Context, op prepaid.Operation, _ int) context.Context {
				keeps = keeps || op.Method == http.MethodGet && !strings.HasPrefix(op.Path, "/reporting/") ||
					strings.HasSuffix(op.Path, "/transfer") || strings.HasSuffix(op.Path, "/directentryout")
				return ctx
			}}
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			for range 2 {
				_ = c.call(ctx, client)
			}
			cancel()
			require.NoError(t, client.Close())
			time.Sleep(5 * time.Millisecond) // net/http prints by itself
			printed := standard.take()
			if keeps {
				loud++
			} else {
				quiet++
				requireNothingSeen(t, name+": the standard log after "+c.name, printed)
			}
		}
		require.Greater(t, quiet, 20)
		require.Positive(t, loud)
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
			config := canaryConfig(new(canaryWatch), nil, false)
			config.BaseURL, config.Transport = sayAlways(t, response, true), nil
			config.TokenSource = harness.StaticToken("t")
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			printed := func() string {
				_, _ = prepaid.Collect(client.Accounts.SearchCompany(t.Context(), 7, prepaid.SearchCompanyParams{}), 1)
				log.Print("a line of the application")
				return standard.take()
			}
			if dropped {
				for range 20 {
					text := printed()
					requireNothingSeen(t, name, text)
					require.Contains(t, text, "a line of the application")
				}
			} else {
				require.Eventually(t, func() bool { return len(canariesIn(printed())) > 0 }, 5*time.Second, time.Millisecond, name)
			}
			require.NoError(t, client.Close())
		}
	}
}
