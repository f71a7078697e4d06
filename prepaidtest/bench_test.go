package prepaidtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each benchmark runs twice: on the emulator and on a plain handler that reads the request and responds with the same
// bytes from a map. The ratio is the emulator's overhead in a load test compared with net/http itself; it should stay
// below 2.

func BenchmarkGetAccount(b *testing.B) {
	s := NewServer(b, Options{RateLimit: -1})
	compare(b, s, http.MethodGet, "accounts/"+string(s.AddAccount(SeedAccount{Balance: "100"})), "")
}

func BenchmarkCompanyPageOf100(b *testing.B) {
	s := NewServer(b, Options{RateLimit: -1})
	for i := range 250 {
		s.AddAccount(SeedAccount{Balance: "100", Key: fmt.Sprintf("key-%d", i)})
	}
	compare(b, s, http.MethodGet, "accounts/company/42?page_size=100&page_number=2&with_personal=1", "")
}

func BenchmarkTransactionsPageOf100(b *testing.B) {
	s := NewServer(b, Options{RateLimit: -1})
	id := s.AddAccount(SeedAccount{})
	for range 250 {
		s.Adjust(id, "1.25")
	}
	compare(b, s, http.MethodGet, "accounts/"+string(id)+"/transactions?page_size=100&page_number=2", "")
}

func BenchmarkTransfer(b *testing.B) {
	s := NewServer(b, Options{RateLimit: -1})
	from, to := s.AddAccount(SeedAccount{Balance: "100000000"}), s.AddAccount(SeedAccount{})
	compare(b, s, http.MethodPost, "accounts/"+string(from)+"/transfer",
		`{"amount":0.01,"source_reference":"s","destination_reference":"d","destination_account_id":"`+string(to)+`","transaction_type":1}`)
}

func compare(b *testing.B, s *Server, method, path, body string) {
	b.Helper()
	const token = "token"
	s.service.Tokens.Put(token, s.Now().AddDate(1, 0, 0))
	b.Run("emulator", func(b *testing.B) { run(b, method, s.URL+path, token, body) })

	recorded := httptest.NewRecorder()
	s.ServeHTTP(recorded, request(b, method, s.URL+path, token, body))
	require.Equal(b, http.StatusOK, recorded.Code, recorded.Body)
	responses := map[string][]byte{"/3.0/" + path: recorded.Body.Bytes()}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", vendorJSON)
		_, _ = w.Write(responses[r.URL.RequestURI()])
	}))
	defer plain.Close()
	b.Run("plain", func(b *testing.B) { run(b, method, plain.URL+"/3.0/"+path, token, body) })
}

func request(b *testing.B, method, url, token, body string) *http.Request {
	b.Helper()
	made, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	require.NoError(b, err)
	made.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		made.Header.Set("Content-Type", vendorJSON)
	}
	return made
}

func run(b *testing.B, method, url, token, body string) {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			response, err := client.Do(request(b, method, url, token, body))
			require.NoError(b, err)
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			require.Equal(b, http.StatusOK, response.StatusCode)
		}
	})
}
