package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// requireRefusal checks the whole form of a refusal: exactly these faults, in this order, and nothing of the value.
func requireRefusal(t *testing.T, err error, shown string, want ...harness.Fault) {
	t.Helper()
	call, ok := err.(*prepaid.CallError)
	require.True(t, ok, "want *CallError, got %T: %v", err, err)
	require.Equal(t, prepaid.OutcomeRejected, call.Outcome)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	require.NotEmpty(t, call.Operation)
	require.Zero(t, call.Attempts)
	require.True(t, call.FirstSent.IsZero())
	require.True(t, call.LastSent.IsZero())
	harness.RequireFaults(t, call.Err, shown, want...)
	harness.RequireNoPart(t, shown, fmt.Sprintf("%v %+v %s", err, err, err))
}

// sendsNothing runs call on a client whose every request fails the test.
func sendsNothing(t *testing.T, call func(context.Context, *prepaid.Client) error) error {
	t.Helper()
	return sendsNothingWith(t, harness.ServiceConfig(), call)
}

func sendsNothingWith(t *testing.T, config prepaid.Config, call func(context.Context, *prepaid.Client) error) error {
	t.Helper()
	config.Transport = harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request left: %s", r.Method)
		return nil, errors.New("no request may leave")
	})
	client := harness.NewClient(t, config)
	err := call(t.Context(), client)
	require.Error(t, err)
	return err
}

// sends runs call on a client whose service responds to everything but the token request, and returns the sent
// request. It fails when there was none, or when the client itself refused.
func sends(t *testing.T, name string, call func(context.Context, *prepaid.Client) error) sentRequest {
	t.Helper()
	return sendsWith(t, harness.ServiceConfig(), name, call)
}

func sendsWith(t *testing.T, config prepaid.Config, name string, call func(context.Context, *prepaid.Client) error) sentRequest {
	t.Helper()
	var sent sentRequest
	var count atomic.Int32
	config.Transport = harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			return harness.Grant(1, "3600")(r)
		}
		sent = sentRequest{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery}
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			sent.body = string(body)
		}
		count.Add(1)
		return harness.Respond(http.StatusBadRequest, harness.VendorJSON, `{"error":"invalid_request"}`)(r)
	})
	client := harness.NewClient(t, config)
	err := call(t.Context(), client)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	require.False(t, invalid, "%s was refused: %v", name, err)
	require.ErrorIs(t, err, prepaid.ErrBadRequest, name)
	require.EqualValues(t, 1, count.Load(), "%s: requests", name)
	return sent
}

// sentRequest is the request that the service saw.
type sentRequest struct{ method, path, query, body string }

// skipping returns the settings with SkipValueChecks.
func skipping() prepaid.Config {
	config := harness.ServiceConfig()
	config.SkipValueChecks = true
	return config
}

// neverSkipped are the fields whose checks hold with Config.SkipValueChecks: further members, request ids, amounts, ids that are numbers,
// paging, keys, the PIN envelope, and values that have no form on the wire.
var neverSkipped = regexp.MustCompile(`^(extra(\.[a-z_]+)?|request_id|amount|initial_load_amount|parent_transaction_id|(add|remove)\[[0-9]+\](\.[a-z_]+)?|` +
	`paging\.[a-z]+|before|from|to|scope|message_ids|hmac_key_secret|ephemeral_key|` +
	`encrypted_data|encrypted_key|iv|oaep_hashing_algorithm|public_key_fingerprint)$`)

func isNeverSkipped(field, rule string) bool {
	ofTheService := strings.HasPrefix(field, "registration.") || strings.HasPrefix(field, "portal_identifier.") || strings.HasSuffix(field, "_reference")
	switch {
	case strings.Contains(rule, "calendar"), strings.Contains(rule, "UTF-8"):
		return true
	case strings.Contains(rule, "is required"):
		return !ofTheService
	}
	return neverSkipped.MatchString(field)
}
