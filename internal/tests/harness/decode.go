package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// CallWith makes a call with a client whose requests get the given response.
func CallWith(t *testing.T, status int, body string, call func(ctx context.Context, c *prepaid.Client) error) error {
	t.Helper()
	config := Config("https://cards.example")
	script := NewScript(Respond(status, VendorJSON, body))
	script.CountReads = true
	config.Transport = script
	return call(t.Context(), NewClient(t, config))
}

// RequireUndecodable checks that err is a DecodeError, has the given outcome, and shows nothing of the response.
func RequireUndecodable(t *testing.T, err error, outcome prepaid.Outcome) {
	t.Helper()
	failure, ok := errors.AsType[*prepaid.DecodeError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, outcome, CallError(t, err).Outcome)
	require.Equal(t, VendorJSON, failure.MediaType)
	require.NotContains(t, fmt.Sprintf("%v %+v", err, failure.Err), "CANARY")
}
