package internal_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const media = "application/vnd.vendor+json"

func newCall(t *testing.T, operation, contentType, query, body string) *exchange.Call {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/3.0/x?"+query, http.NoBody)
	request.Header.Set("Content-Type", contentType)
	form := &exchange.Form{MediaType: media, PageSizes: wire.PageSizes{Least: 1, Normal: 2, Most: 3}}
	table := exchange.NewTable(nil)
	route := table[slices.IndexFunc(table, func(r *exchange.Route) bool { return r.Name == operation })]
	return &exchange.Call{Form: form, Request: request, Body: []byte(body), Route: route}
}

// A refusal has the status and a code of the operation, and lists every field with its rule.
func TestRefusalsNameFieldsAndRules(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ operation, mediaType, body, code, description string }{
		{"Accounts.SetPlasticEnabled", media, `{"plastic_enabled":"hunter2","x":1}`, "invalid_request",
			"invalid fields: plastic_enabled must be true or false; x is not a member of this request"},
		{"Accounts.SetPlasticEnabled", media, "[]", "invalid_request", "the body must be a JSON object"},
		{"Accounts.SetPlasticEnabled", media + "; charset=utf-8", "{}", "invalid_request", "Content-Type must be " + media},
		{"Hooks.Update", media, `{"scope":[1,"2"]}`, "invalid_scope", "invalid fields: scope[1] must be an integer"},
		{"Hooks.Update", media, `{"x":1}`, "invalid_request", "invalid fields: x is not a member of this request"},
		{"Accounts.ExchangeKey", media, `{}`, "bad_application_id", "invalid fields: application_id is required; key_id is required; ephemeral_key is required"},
		{"Accounts.ExchangeKey", media, ``, "bad_application_id", "the body must be a JSON object"},
	} {
		c := newCall(t, row.operation, row.mediaType, "", row.body)
		_, refusal := exchange.Body[struct{}](c)
		require.NotNil(t, refusal, row.body)
		require.Equal(t, http.StatusBadRequest, refusal.Status)
		require.Equal(t, exchange.Problem{Code: row.code, Description: row.description}, refusal.Problem)
	}
	for query, want := range map[string]string{
		"a=1&page_size=x":             "invalid fields: page_size must match ^-?[0-9]+$; a is not a parameter of this operation",
		"page_number=1&page_number=2": "invalid fields: page_number is given more than once",
		"%zz":                         "the query cannot be read",
	} {
		require.Equal(t, want, newCall(t, "Hooks.List", "", query, "").ReadQuery().Problem.Description)
	}
}

func TestAFixedSegmentWinsOverAParameter(t *testing.T) {
	t.Parallel()
	table := exchange.NewTable(nil)
	route, params, _ := table.Find(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/3.0/accounts/company/7", http.NoBody))
	require.Equal(t, "Accounts.SearchCompany", route.Name)
	require.Equal(t, []string{"7"}, params)
}

// Without a connection to take over, a response that net/http cannot write panics with http.ErrAbortHandler.
func TestWithoutAConnection(t *testing.T) {
	t.Parallel()
	surplus := exchange.Response{Status: http.StatusNoContent, Body: []byte("{}")}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { surplus.Write(httptest.NewRecorder()) })
	require.Equal(t, 2, exchange.WholeSeconds(time.Second+1))
}
