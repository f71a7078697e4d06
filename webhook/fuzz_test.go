package webhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// FuzzHandler sends anything: a message that reaches a function has the sum of its exact bytes, and the response is one of
// those documented.
func FuzzHandler(f *testing.F) {
	sign := func(body []byte) string { return hexHMAC(f, keyHex, string(body)) }
	f.Add("POST", []byte(transaction), "", true)
	f.Add("POST", []byte(transaction), sign([]byte(transaction)), false)
	f.Add("POST", []byte(transaction+" "), sign([]byte(transaction)), false)
	f.Add("POST", []byte(`{"id":"`+strings.Repeat("x", 200)+`","type":"transaction"}`), "", true)
	f.Add("POST", []byte(`{"id":"a","id":"b","type":"transaction"}`), "", true)
	f.Add("POST", []byte(`{}`), "", true)
	f.Add("POST", []byte("null"), "", true)
	f.Add("POST", []byte(strings.Repeat(" ", 2000)), "", true)
	f.Add("GET", []byte(transaction), "", true)
	f.Add("POST", []byte{}, "\x00", false)
	f.Fuzz(func(t *testing.T, method string, body []byte, signature string, genuine bool) {
		want := hexHMAC(t, keyHex, string(body))
		if genuine {
			signature = want
		}
		var got []*prepaid.Message
		handle := func(_ context.Context, m *prepaid.Message) error {
			got = append(got, m)
			return nil
		}
		handler := newHandler(t, Config{Verifier: verifier(), MaxBody: 1000, OnTransaction: handle, OnOther: handle})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body)))
		r.Method, r.Header = method, http.Header{signed: {signature}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)

		verified := strings.EqualFold(signature, want)
		switch {
		case method != http.MethodPost:
			require.Equal(t, 405, w.Code)
		case len(body) > 1000:
			require.Equal(t, 413, w.Code)
		case !verified:
			require.Equal(t, 401, w.Code)
		default:
			require.Contains(t, []int{200, 400}, w.Code)
		}
		if w.Code != 200 {
			require.Empty(t, got)
			require.Equal(t, http.StatusText(w.Code)+"\n", w.Body.String())
			return
		}
		require.True(t, verified)
		require.Len(t, got, 1)
		require.Equal(t, string(body), string(got[0].Raw))
		require.LessOrEqual(t, len(ClaimID(got[0])), 128)
	})
}
