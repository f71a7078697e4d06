package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestServeHTTPStatus(t *testing.T) {
	t.Parallel()
	const limit = 200
	sign := func(body string) string { return hexHMAC(t, keyHex, body) }
	long := `{"type":"transaction","pad":"` + strings.Repeat("x", limit) + `"}`
	for name, c := range map[string]struct {
		method, body, signature string
		status, handled, other  int
		cause                   error
	}{
		"transaction":        {body: transaction, signature: sign(transaction), status: 200, handled: 1},
		"capital hex":        {body: transaction, signature: strings.ToUpper(sign(transaction)), status: 200, handled: 1},
		"ping without id":    {body: `{"type":"ping"}`, signature: sign(`{"type":"ping"}`), status: 200, other: 1},
		"no type":            {body: `{}`, signature: sign(`{}`), status: 200, other: 1},
		"transaction, no id": {body: `{"type":"transaction"}`, signature: sign(`{"type":"transaction"}`), status: 200, handled: 1},
		"GET":                {method: "GET", status: 405, cause: errMethod},
		"HEAD":               {method: "HEAD", status: 405, cause: errMethod},
		"PUT":                {method: "PUT", body: transaction, signature: sign(transaction), status: 405, cause: errMethod},
		"lower-case method":  {method: "post", body: transaction, signature: sign(transaction), status: 405, cause: errMethod},
		"long, signed":       {body: long, signature: sign(long), status: 413, cause: errBodyLength},
		"long, not signed":   {body: long, status: 413, cause: errBodyLength},
		"no signature":       {body: transaction, status: 401, cause: ErrSignatureMissing},
		"wrong key":          {body: transaction, signature: hexHMAC(t, otherKey, transaction), status: 401, cause: ErrSignatureInvalid},
		"other body":         {body: transaction + " ", signature: sign(transaction), status: 401, cause: ErrSignatureInvalid},
		"not hex":            {body: transaction, signature: "zz", status: 401, cause: ErrSignatureInvalid},
		"bad JSON, unsigned": {body: "{", status: 401, cause: ErrSignatureMissing},
		"bad JSON":           {body: "{", signature: sign("{"), status: 400},
		"null":               {body: "null", signature: sign("null"), status: 400},
		"array":              {body: "[]", signature: sign("[]"), status: 400},
		"two values":         {body: "{}{}", signature: sign("{}{}"), status: 400},
		"empty body":         {body: "", signature: sign(""), status: 400},
		"id is a list":       {body: `{"id":[1]}`, signature: sign(`{"id":[1]}`), status: 400},
		"bad timestamp":      {body: `{"timestamp":"soon"}`, signature: sign(`{"timestamp":"soon"}`), status: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var transactions, others recorder
			handler := newHandler(t, Config{
				Verifier: verifier(), MaxBody: limit,
				OnTransaction: transactions.take, OnOther: others.take, OnFailure: others.fail,
			})
			method := c.method
			if method == "" {
				method = http.MethodPost
			}
			w := serve(handler, request(t, method, c.body, c.signature))
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.handled, transactions.count())
			require.Equal(t, c.other, others.count())
			require.Equal(t, c.status == 405, w.Header().Get("Allow") == "POST")
			if c.status == 200 {
				require.Empty(t, w.Body.String())
				require.Empty(t, others.failed())
				return
			}
			require.Equal(t, http.StatusText(c.status)+"\n", w.Body.String())
			require.Len(t, others.failed(), 1)
			failed := others.failed()[0]
			require.Equal(t, c.status, failed.status)
			if c.cause != nil {
				require.ErrorIs(t, failed.err, c.cause)
			}
			require.NotContains(t, failed.err.Error(), "SECRET")
		})
	}
}

// endless is a body that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestEndlessBodyIsCutOff(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, Config{Verifier: verifier(), OnTransaction: ignore, MaxBody: 10_000})
	for name, length := range map[string]int64{"unknown length": -1, "length understated": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := &endless{}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/", body)
			r.ContentLength = length
			require.Equal(t, 413, serve(handler, r).Code)
			require.Less(t, body.read, 20_000)
		})
	}
	t.Run("declared length", func(t *testing.T) {
		t.Parallel()
		body := &endless{}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", body)
		r.ContentLength = 10_001
		require.Equal(t, 413, serve(handler, r).Code)
		require.Zero(t, body.read)
	})
}

func TestVerifierThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verify verifierFunc
		status int
	}{
		"error": {func(context.Context, http.Header, []byte) error { return errors.New("no") }, 401},
		"panic": {func(context.Context, http.Header, []byte) error { panic("SECRET") }, 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen recorder
			handler := newHandler(t, Config{Verifier: c.verify, OnTransaction: seen.take, OnFailure: seen.fail})
			require.Equal(t, c.status, post(t, handler, transaction).Code)
			require.Zero(t, seen.count())
			require.NotContains(t, seen.failed()[0].err.Error(), "SECRET")
		})
	}
}

// Timeout bounds a Verifier that asks elsewhere, and its context has a deadline.
func TestVerifierHasDeadline(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, Config{OnTransaction: ignore, Verifier: verifierFunc(func(ctx context.Context, _ http.Header, _ []byte) error {
		if _, ok := ctx.Deadline(); !ok {
			return errors.New("no deadline")
		}
		return nil
	})})
	require.Equal(t, 200, post(t, handler, transaction).Code)
}

func TestOnFailureMayPanic(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, Config{
		AllowUnverified: true, OnTransaction: ignore, OnFailure: func(context.Context, int, error) { panic("x") },
	})
	require.Equal(t, 400, post(t, handler, "{").Code)
}

// A message that is being handled is handled to its end, even when the sender has hung up.
func TestHandlingOutlivesTheConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	handler := newHandler(t, open(func(inner context.Context, _ *prepaid.Message) error {
		cancel()
		return inner.Err()
	}))
	require.Equal(t, 200, serve(handler, request(t, "POST", transaction, "").WithContext(ctx)).Code)
}

func TestBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	var seen recorder
	handler := newHandler(t, Config{AllowUnverified: true, OnTransaction: seen.take, OnFailure: seen.fail})
	broken := io.MultiReader(strings.NewReader(transaction), iotest.ErrReader(errors.New("from 10.0.0.1")))
	require.Equal(t, 400, serve(handler, httptest.NewRequestWithContext(t.Context(), "POST", "/", broken)).Code)
	require.Zero(t, seen.count())
	require.Equal(t, "webhook: body not received", seen.failed()[0].err.Error())

	none, err := http.NewRequestWithContext(t.Context(), "POST", "/", http.NoBody)
	require.NoError(t, err)
	none.Body = nil
	require.Equal(t, 400, serve(handler, none).Code)
}
