package internal_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const media = "application/vnd.vendor+json"

func newCall(t *testing.T, contentType, query, body string) *exchange.Call {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/3.0/x?"+query, http.NoBody)
	request.Header.Set("Content-Type", contentType)
	form := &exchange.Form{MediaType: media, PageSizes: wire.PageSizes{Least: 1, Normal: 2, Most: 3}}
	return &exchange.Call{Form: form, Request: request, Body: []byte(body), Route: &exchange.Route{BadInput: http.StatusBadRequest}}
}

func TestRefusalsNameFieldsAndRules(t *testing.T) {
	t.Parallel()
	c := newCall(t, media, "a=1&page_size=x", `{"b":"hunter2"}`)
	refusal := c.BindBody(func(b *wire.Reader) { b.Integer("b", new(int64)) })
	require.Equal(t, http.StatusBadRequest, refusal.Status)
	require.Equal(t, "invalid fields: b must be an integer", refusal.Problem.Description)
	require.JSONEq(t, `{"error":"invalid_request","error_description":"invalid fields: b must be an integer"}`, string(refusal.Body))
	require.True(t, c.Readable)
	refusal = c.BindQuery(func(q *wire.Query) { q.Paging(new(wire.PageRequest)) })
	require.Equal(t, "invalid fields: page_size must be a whole number; a is not a parameter of this operation", refusal.Problem.Description)
	c.Request.URL.RawQuery = "%zz"
	require.NotNil(t, c.BindQuery(func(*wire.Query) {}))
	c.Body = []byte("[]")
	require.Equal(t, "the body must be a JSON object", c.BindBody(func(*wire.Reader) {}).Problem.Description)
	c = newCall(t, media+"; charset=utf-8; x=y", "", "{}")
	require.NotNil(t, c.BindBody(func(*wire.Reader) {}), "a parameter too many")
}

func TestAPageIsPooled(t *testing.T) {
	t.Parallel()
	page := exchange.Paged(newCall(t, "", "", ""), wire.PageRequest{}, []int{1}, func(to []byte, _ int) []byte { return append(to, '1') })
	require.Equal(t, "[1]", string(page.Body))
	require.True(t, page.Pooled())
}

func TestAFixedSegmentWinsOverAParameter(t *testing.T) {
	t.Parallel()
	table := exchange.Table{{Method: http.MethodGet, Template: "/accounts/company/{companyid}"}, {Method: http.MethodGet, Template: "/accounts/{id}/{any}"}}
	table.Prepare()
	route, params, _ := table.Find(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/3.0/accounts/company/7", http.NoBody))
	require.Same(t, table[0], route)
	require.Equal(t, []string{"7"}, params)
}

// Without a connection to take over, a 204 has no body, and a cut panics with http.ErrAbortHandler.
func TestWithoutAConnection(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	exchange.Response{Status: http.StatusNoContent, Body: []byte("{}"), At: at}.Write(recorder, request, nil)
	require.Equal(t, http.StatusNoContent, recorder.Code)
	require.Empty(t, recorder.Body.String())
	require.Equal(t, "Wed, 02 Jan 2030 03:04:05 GMT", recorder.Header().Get("Date"))
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { exchange.Cut(recorder, nil) })
}

func TestAStreamThatFailsAtOnceIs500(t *testing.T) {
	t.Parallel()
	c := newCall(t, "", "", "")
	recorder := httptest.NewRecorder()
	sent := c.WriteStream(recorder, exchange.Response{Status: http.StatusOK, Stream: func(w io.Writer) error {
		_, _ = io.WriteString(w, "begun")
		return io.ErrUnexpectedEOF
	}})
	require.Equal(t, http.StatusInternalServerError, sent.Status)
	require.Equal(t, http.StatusInternalServerError, recorder.Code)
	require.NotContains(t, recorder.Body.String(), "begun")
	require.Equal(t, 2, exchange.WholeSeconds(time.Second+1))
}
