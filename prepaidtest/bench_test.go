package prepaidtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// The two benchmarks tell what the emulator costs beyond net/http itself: the same answer from state and from a
// map.

func BenchmarkEmulator(b *testing.B) {
	s := NewServer(b, NoRateLimit())
	id := s.AddAccount(SeedAccount{Balance: "100"})
	token := s.ids.hex(24)
	s.tokens[token] = s.Now().AddDate(1, 0, 0)
	run(b, s.URL+"accounts/"+id, token)
}

func BenchmarkPlainHandler(b *testing.B) {
	s := NewServer(b)
	id := s.AddAccount(SeedAccount{Balance: "100"})
	c := &call{server: s}
	bytes := map[string][]byte{"/accounts/" + id: c.json(http.StatusOK, s.accounts[id].body(include{})).body}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", vendorJSON)
		_, _ = w.Write(bytes[r.URL.Path])
	}))
	defer plain.Close()
	run(b, plain.URL+"/accounts/"+id, "x")
}

func run(b *testing.B, url, token string) {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
			require.NoError(b, err)
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := client.Do(request)
			require.NoError(b, err)
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			require.Equal(b, http.StatusOK, response.StatusCode)
		}
	})
}
