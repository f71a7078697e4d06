// Package exchangetest makes calls for the tests of single operations, without a server.
package exchangetest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const mediaType = "application/vnd.vendor+json"

// Call is a call of an operation, named by method and template, with a JSON body and the values of the path.
func Call(t testing.TB, method, template, body string, params ...string) *exchange.Call {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
	request.Header.Set("Content-Type", mediaType)
	return &exchange.Call{
		Form:    &exchange.Form{MediaType: mediaType, PageSizes: wire.PageSizes{Least: 1, Normal: 50, Most: 500}},
		Request: request, Params: params, Body: []byte(body),
		Route: &exchange.Route{Method: method, Template: template, BadInput: http.StatusBadRequest},
	}
}

// Object reads the JSON object of a response.
func Object(t testing.TB, response exchange.Response) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(response.Body, &object); err != nil {
		t.Fatalf("the response is no JSON object: %v", err)
	}
	return object
}
