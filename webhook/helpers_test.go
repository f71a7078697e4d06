package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const (
	keyHex   = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	otherKey = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
	signed   = "X-Signature"

	transaction = `{"id":"m1","hook_id":"h1","timestamp":"2026-03-01T10:00:00Z","type":"transaction","x":"SECRET-CONTENT"}`
)

// hexHMAC signs without the code under test.
func hexHMAC(t testing.TB, key, text string) string {
	t.Helper()
	raw, err := hex.DecodeString(key)
	require.NoError(t, err)
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func verifier() HMAC {
	return HMAC{
		Header: signed, Encoding: EncodingHex, KeyForm: KeyDecoded,
		Keys: StaticKeys{"k1": prepaid.NewSecret(keyHex)},
	}
}

// recorder notes the messages and failures of a Handler.
type recorder struct {
	mu       sync.Mutex
	messages []*prepaid.Message
	failures []failure
}

type failure struct {
	status int
	err    error
}

func (r *recorder) take(_ context.Context, m *prepaid.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, m)
	return nil
}

func (r *recorder) fail(_ context.Context, status int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, failure{status, err})
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.messages)
}

func (r *recorder) failed() []failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures
}

func newHandler(t *testing.T, config Config) *Handler {
	t.Helper()
	handler, err := NewHandler(config)
	require.NoError(t, err)
	return handler
}

// open is a Config that needs no signature.
func open(handle func(context.Context, *prepaid.Message) error) Config {
	return Config{AllowUnverified: true, OnTransaction: handle}
}

func request(t *testing.T, method, body, signature string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(body))
	if signature != "" {
		r.Header.Set(signed, signature)
	}
	return r
}

func post(t *testing.T, handler http.Handler, body string) *httptest.ResponseRecorder {
	t.Helper()
	return serve(handler, request(t, http.MethodPost, body, hexHMAC(t, keyHex, body)))
}

// later posts in the background.
func later(t *testing.T, handler http.Handler, body string) <-chan int {
	t.Helper()
	r := request(t, http.MethodPost, body, hexHMAC(t, keyHex, body))
	status := make(chan int, 1)
	go func() { status <- serve(handler, r).Code }()
	return status
}

func serve(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}
