package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
)

func TestAFaultIsOnlyForRequestsThatItFits(t *testing.T) {
	t.Parallel()
	q := faults.NewQueue("*", nil, 1, func(f faults.Fault) faults.Schedule { return f.Schedule })
	q.Arm("x", faults.Fault{Kind: faults.Delay})
	require.Nil(t, q.Take("x", func(f faults.Fault) bool { return f.Kind == faults.SlowBody }))
	require.NotNil(t, q.Take("x", func(f faults.Fault) bool { return f.Kind == faults.Delay }))
}

func TestTheUsualCodeOfEachStatus(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]string{
		400: "invalid_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "duplicate_request",
		429: "rate_limit_exceeded", 500: "server_error", 503: "server_error",
	} {
		f := faults.Fault{Kind: faults.Respond, Status: status}
		require.Equal(t, code, f.Respond(newCall(t, "", "", "")).Problem.Code)
	}
}
