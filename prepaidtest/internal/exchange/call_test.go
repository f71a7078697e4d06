package exchange

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const media = "application/vnd.vendor+json"

func form(lenient bool) *Form {
	return &Form{MediaType: media, Lenient: lenient, PageSizes: wire.PageSizes{Least: 1, Normal: 2, Most: 3}}
}

func newCall(t *testing.T, form *Form, contentType, query, body string) *Call {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/3.0/x?"+query, http.NoBody)
	request.Header.Set("Content-Type", contentType)
	return &Call{Form: form, Request: request, Body: []byte(body), Route: &Route{BadInput: http.StatusBadRequest}}
}

func TestABodyNeedsItsMediaType(t *testing.T) {
	t.Parallel()
	for contentType, ok := range map[string]bool{
		media: true, media + "; charset=UTF-8": true, media + "; charset=latin1": false, media + "; charset=utf-8; x=y": false,
		"application/json": false, "": false, "a/b;;": false,
	} {
		bind := func(b *wire.Reader) { b.String("name", new(string)).Required() }
		refusal := newCall(t, form(false), contentType, "", `{"name":"x"}`).BindBody(bind)
		require.Equal(t, ok, refusal == nil, contentType)
		require.Nil(t, newCall(t, form(true), contentType, "", `{"name":"x"}`).BindBody(bind), "lenient")
	}
}

func TestRefusalsNameFieldsAndRules(t *testing.T) {
	t.Parallel()
	c := newCall(t, form(false), media, "a=1&page_size=x", `{"b":"hunter2"}`)
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
}

func TestPages(t *testing.T) {
	t.Parallel()
	items := []int64{1, 2, 3}
	write := func(to []byte, item int64) []byte { return strconv.AppendInt(to, item, 10) }
	page := func(query string, items []int64) Response {
		c := newCall(t, form(false), "", query, "")
		var request wire.PageRequest
		require.Nil(t, c.BindQuery(func(q *wire.Query) { q.Paging(&request) }))
		return Paged(c, request, items, write)
	}
	got := page("", items)
	require.Equal(t, "[1,2]", string(got.Body))
	require.True(t, got.Pooled())
	header := make(http.Header)
	got.header(header)
	require.Equal(t, []string{"2"}, map[string][]string(header)["X-TotalPages"])
	require.Equal(t, []string{"3"}, map[string][]string(header)["X-TotalItems"])
	got.Release()
	require.Equal(t, "[3]", string(page("page_number=2", items).Body))
	require.Equal(t, "[1,2,3]", string(page("page_size=500", items).Body))
	require.Equal(t, http.StatusBadRequest, page("page_number=3", items).Status)
	require.Equal(t, http.StatusNoContent, page("page_number=3", nil).Status)
}

func TestAFixedSegmentWinsOverAParameter(t *testing.T) {
	t.Parallel()
	table := Table{
		{Method: http.MethodGet, Template: "/accounts/{id}/tokens"}, {Method: http.MethodGet, Template: "/accounts/company/{companyid}"},
		{Method: http.MethodGet, Template: "/accounts/{id}/{any}"},
	}
	table.Prepare()
	for path, want := range map[string]string{
		"/3.0/accounts/company/7": "/accounts/company/{companyid} 7", "/3.0/accounts/a%2Fb/tokens": "/accounts/{id}/tokens a/b",
		"/3.0/accounts/a/b": "/accounts/{id}/{any} a b", "/3.0/accounts//tokens": "", "/accounts/a/tokens": "", "/3.0/accounts/a": "",
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		route, params, known := table.Find(request)
		if want == "" {
			require.Nil(t, route, path)
			require.False(t, known, path)
			continue
		}
		require.Equal(t, want, route.Template+" "+strings.Join(params, " "))
	}
	route, _, known := table.Find(httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/3.0/accounts/a/tokens", http.NoBody))
	require.Nil(t, route)
	require.True(t, known, "only the method differs")
	require.True(t, table.Has("GET /accounts/{id}/tokens"))
	require.False(t, table.Has("PUT /accounts/{id}/tokens"))
}

// Without a connection to take over, a 204 has no body, and a cut panics with http.ErrAbortHandler.
func TestWithoutAConnection(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	Response{Status: http.StatusNoContent, Body: []byte("{}"), At: at}.Write(recorder, request, nil)
	require.Equal(t, http.StatusNoContent, recorder.Code)
	require.Empty(t, recorder.Body.String())
	require.Equal(t, "Wed, 02 Jan 2030 03:04:05 GMT", recorder.Header().Get("Date"))
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { Cut(recorder, nil) })
}

func TestAStreamThatFailsAtOnceIs500(t *testing.T) {
	t.Parallel()
	c := newCall(t, form(false), "", "", "")
	recorder := httptest.NewRecorder()
	sent := c.WriteStream(recorder, Response{Status: http.StatusOK, Stream: func(w io.Writer) error {
		_, _ = io.WriteString(w, "begun")
		return io.ErrUnexpectedEOF
	}})
	require.Equal(t, http.StatusInternalServerError, sent.Status)
	require.Equal(t, http.StatusInternalServerError, recorder.Code)
	require.NotContains(t, recorder.Body.String(), "begun")
	require.Equal(t, 2, WholeSeconds(time.Second+1))
}
