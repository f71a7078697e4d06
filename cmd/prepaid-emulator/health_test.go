package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// -health finds the emulator at the address of -listen or its variable, even one for all interfaces.
func TestHealth(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	parsed, err := url.Parse(p.Page)
	require.NoError(t, err)
	for _, listen := range []string{parsed.Host, ":" + parsed.Port(), "0.0.0.0:" + parsed.Port(), "localhost:" + parsed.Port()} {
		code, out, problems := once(t, map[string]string{"PREPAID_EMULATOR_LISTEN": listen}, "-health")
		require.Equal(t, []any{0, "", ""}, []any{code, out, problems}, listen)
	}
	p.stopped()
	code, _, problems := once(t, nil, "-health", "-listen", parsed.Host)
	require.Equal(t, 1, code)
	require.Contains(t, problems, "prepaid-emulator: no response from "+parsed.Host)
	require.Equal(t, 1, strings.Count(problems, "\n"))
}

// Any other server there is not taken for an emulator.
func TestHealthOfAnotherServer(t *testing.T) {
	t.Parallel()
	emulator := launch(t, "-log", "off")
	other := func(respond http.HandlerFunc) string {
		server := httptest.NewServer(respond)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	for address, reason := range map[string]string{
		other(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"up"}`)) }):    "is not an emulator",
		other(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }): "status 503",
		other(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, emulator.Page+"clock", http.StatusFound)
		}): "status 302",
	} {
		code, out, problems := once(t, nil, "-health", "-listen", address)
		require.Equal(t, []any{1, ""}, []any{code, out})
		require.Contains(t, problems, reason)
	}
}

// silent is a transport to a server that does not respond.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A server that does not respond is not waited for.
func TestHealthOfASilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := parse([]string{"-health"}, noEnvironment, io.Discard, io.Discard)
		require.NoError(t, err)
		began := time.Now()
		require.ErrorContains(t, s.health(t.Context(), silent{}), "no response from 127.0.0.1:8480")
		require.Equal(t, healthTimeout, time.Since(began))
	})
}
