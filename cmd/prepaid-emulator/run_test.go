package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// once runs the program with flags that make it end by itself.
func once(t *testing.T, environment map[string]string, arguments ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	look := func(name string) (string, bool) { value, set := environment[name]; return value, set }
	code = run(t.Context(), arguments, look, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestHelpHasEveryFlag(t *testing.T) {
	t.Parallel()
	code, out, problems := once(t, nil, "-h")
	require.Equal(t, []any{0, ""}, []any{code, problems})
	new(settings).flags().VisitAll(func(f *flag.Flag) { require.Contains(t, out, "\n  -"+f.Name) })
	for _, text := range []string{"(default 127.0.0.1:8480)", "(default 1000)", "commit-then-drop", "Examples:", "PREPAID_EMULATOR_CLIENT_ID"} {
		require.Contains(t, out, text)
	}
	code, out, _ = once(t, nil, "-version")
	require.Equal(t, 0, code)
	require.Regexp(t, `^prepaid-emulator \S+\n$`, out)
}

func TestFailedStartEndsWithOne(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	nonsense := filepath.Join(t.TempDir(), "nonsense")
	require.NoError(t, os.WriteFile(nonsense, []byte(`{"accounts":[{"status":"asleep"}]}`), 0o600))
	for _, wrong := range []struct {
		says      string
		arguments []string
	}{
		{"is in use", []string{"-listen", taken.Addr().String()}},
		{"-hook-roots", []string{"-listen", "127.0.0.1:0", "-hook-roots", nonsense}},
		{"-hook-roots", []string{"-listen", "127.0.0.1:0", "-hook-roots", nonsense + ".absent"}},
		{"-seed", []string{"-listen", "127.0.0.1:0", "-seed", nonsense + ".absent"}},
		{"accounts[0].status", []string{"-listen", "127.0.0.1:0", "-seed", nonsense, "-state", nonsense + ".state"}},
		{"-vendor", []string{"-listen", "127.0.0.1:0", "-vendor", "two words"}},
		{"-initial-status", []string{"-listen", "127.0.0.1:0", "-initial-status", "happy"}},
		{"-page-sizes", []string{"-listen", "127.0.0.1:0", "-page-sizes", "3,2,1"}},
		{"-allowed-addresses", []string{"-listen", "127.0.0.1:0", "-allowed-addresses", "192.0.2.0/28"}},
		{"-start-at", []string{"-listen", "127.0.0.1:0", "-start-at", "2201-01-01T00:00:00Z"}},
	} {
		code, _, problems := once(t, nil, wrong.arguments...)
		require.Equal(t, 1, code, wrong.arguments)
		require.Contains(t, problems, wrong.says)
	}
	require.NoFileExists(t, nonsense+".state")
}

// stopsAfter is an output that stops the program when a text has been printed.
type stopsAfter struct {
	output
	text string
	stop context.CancelFunc
}

func (s *stopsAfter) Write(p []byte) (int, error) {
	n, err := s.output.Write(p)
	if strings.Contains(s.String(), s.text) {
		s.stop()
	}
	return n, err
}

func TestContextStopsTheProgram(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := &stopsAfter{text: "Ctrl+C", stop: cancel}
	require.Equal(t, 0, run(ctx, []string{"-listen", "127.0.0.1:0"}, noEnvironment, out, io.Discard))
	require.Contains(t, out.String(), "stopping")

	p := launch(t, "-fault", "GET /accounts/{id}=respond 503", "-fault", "*=delay 1ms x2")
	require.Contains(t, p.out.String(), "GET /accounts/{id}: respond 503")
	require.Equal(t, http.StatusServiceUnavailable, p.Call("GET", "accounts/"+ada, "").Status)
	require.NotContains(t, p.problems.String(), "WARNING")

	remote := launch(t, "-listen", "0.0.0.0:0", "-allow-remote", "-log", "off")
	require.Contains(t, remote.problems.String(), "WARNING")
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/$`, remote.Page, "an address that can be reached")
}

func TestOneLineARequest(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "json")
	p.Call("GET", "accounts/EA404?with_personal=canary", "")
	p.stopped()
	lines := strings.Split(strings.TrimSpace(p.problems.String()), "\n")
	require.Len(t, lines, 2)
	require.Regexp(t, `"method":"GET","template":"/accounts/\{id\}","status":404,"code":"account_not_found".*"duration":\d+`, lines[1])
	require.NotContains(t, lines[1], "canary")
	require.NotContains(t, lines[1], "EA404")
}

func TestDeterministicAndFrozen(t *testing.T) {
	t.Parallel()
	arguments := []string{"-deterministic", "7", "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z"}
	first, second := launch(t, arguments...), launch(t, arguments...)
	require.Equal(t, first.Call("GET", "accounts/"+ada, "").Body, second.Call("GET", "accounts/"+ada, "").Body)
	require.Equal(t, first.Token, second.Token)
	require.Contains(t, first.Get("clock").Body, "2030-01-31 08:00:00")
	require.Contains(t, first.Press("clock", "by=36h").Body, "2030-02-01 20:00:00")
}

func TestSeedOfTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/emulator.md")
	require.NoError(t, err)
	seed := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	require.Len(t, seed, 2)
	file := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(file, seed[1], 0o600))
	p := launch(t, "-seed", file, "-log", "off")
	require.Contains(t, p.out.String(), "7 (globex), accounts: 2, emp-1, emp-2")
	require.Contains(t, p.Call("GET", "accounts/emp-1", "").Body, `"balance":25.50`)
	require.Equal(t, http.StatusNotFound, p.Call("GET", "accounts/"+ada, "").Status, "no demo next to it")
}

// A window that never ends would lock out all callers.
func TestFrozenClockHasNoRateLimitUnlessAsked(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]int{"-frozen-clock": 200, "-frozen-clock -rate-limit 5": 429, "-rate-limit 5 -no-rate-limit": 200} {
		p := launch(t, append(strings.Fields(arguments), "-log", "off")...)
		last := 0
		for range 6 {
			last = p.Call("GET", "accounts/"+ada, "").Status
		}
		require.Equal(t, want, last)
	}
}

func TestOpenAPIIsPrinted(t *testing.T) {
	t.Parallel()
	code, out, problems := once(t, nil, "-openapi", "-listen", "127.0.0.1:1") // where it does not listen
	require.Equal(t, []any{0, ""}, []any{code, problems})
	committed, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	require.Equal(t, string(committed), out)
	unread, closed := io.Pipe()
	require.NoError(t, unread.Close())
	require.Equal(t, 1, run(t.Context(), []string{"-openapi"}, noEnvironment, closed, io.Discard), "nobody gets it")
}

// A request that arrives before the seed is loaded waits for it.
func TestFirstRequestFindsTheSeed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	connection, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer connection.Close()
	_, err = io.WriteString(connection, "GET /accounts/"+ada+" HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	s, err := parse([]string{"-log", "off"}, noEnvironment, io.Discard, io.Discard)
	require.NoError(t, err)
	server, err := start(s, listener, io.Discard, io.Discard)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	response, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.Contains(t, string(response), `"account_id":"`+ada+`"`)
}
