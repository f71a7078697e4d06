package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

func TestTheUsualCodeOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{
		400: "invalid_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "duplicate_request",
		429: "rate_limit_exceeded", 500: "server_error", 503: "server_error",
	} {
		f := faults.Fault{Kind: faults.Respond, Status: status}
		require.Equal(t, code, f.Respond(newCall(t, "Hooks.List", "", "", "")).Problem.Code)
	}
}
