package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// -health finds the emulator at the address of -listen or its variable, even one for all interfaces.
func TestHealth(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	parsed, err := url.Parse(p.page)
	require.NoError(t, err)
	for _, listen := range []string{parsed.Host, ":" + parsed.Port(), "0.0.0.0:" + parsed.Port(), "localhost:" + parsed.Port()} {
		code, out, problems := once(t, map[string]string{"PREPAID_EMULATOR_LISTEN": listen}, "-health")
		require.Equal(t, []any{0, "", ""}, []any{code, out, problems}, listen)
	}
	require.Equal(t, 0, p.stop())
	code, _, problems := once(t, nil, "-health", "-listen", parsed.Host)
	require.Equal(t, 1, code)
	require.Contains(t, problems, "prepaid-emulator: no response from "+parsed.Host)
	require.Equal(t, 1, strings.Count(problems, "\n"))
}

// Any other server there is not taken for an emulator, nor waited for.
func TestHealthOfAnotherServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	emulator := launch(t, "-log", "off")
	other := func(respond http.HandlerFunc) string {
		server := httptest.NewServer(respond)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	for address, reason := range map[string]string{
		silent.Addr().String(): "no response",
		other(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"up"}`)) }):    "is not an emulator",
		other(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }): "status 503",
		other(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, emulator.page+"clock", http.StatusFound)
		}): "status 302",
	} {
		code, out, problems := once(t, nil, "-health", "-listen", address)
		require.Equal(t, []any{1, ""}, []any{code, out})
		require.Contains(t, problems, reason)
	}
}
