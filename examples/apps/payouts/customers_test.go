package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestCustomersGetSomethingElse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(server.Close)
	require.EqualError(t, newCustomers([]prepaid.AccountID{"a"}, "stranger").shop(t.Context(), server.URL, 30), "an order got status 418")
}
