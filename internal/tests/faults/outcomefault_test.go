package faults

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// coreFault is something that goes wrong on the wire, each time until the client gives up.
type coreFault struct {
	name     string
	response func(op harness.Op, n int, p *harness.Peer)
	// want has a word for each of coreOps: the number of requests that the server saw, and the outcome: S success,
	// A applied (but the response is unusable), R rejected, N not processed, U unknown.
	want  string
	is    []error
	check func(t *testing.T, op harness.Op, err error)
	// timeout bounds the attempts of this fault.
	timeout time.Duration
}

func statusFault(status int, mediaType, body string) func(harness.Op, int, *harness.Peer) {
	return func(_ harness.Op, _ int, p *harness.Peer) { p.Respond(status, mediaType, body) }
}

func shapedFault(status int, code string) func(harness.Op, int, *harness.Peer) {
	return statusFault(status, harness.VendorJSON, fmt.Sprintf(`{"error":%q,"error_description":"CANARY"}`, code))
}

func apiStatus(status int, code prepaid.ErrorCode) func(*testing.T, harness.Op, error) {
	return func(t *testing.T, _ harness.Op, err error) {
		t.Helper()
		failure, ok := errors.AsType[*prepaid.APIError](err)
		require.True(t, ok, "no *APIError")
		require.Equal(t, status, failure.StatusCode)
		require.Equal(t, code, failure.Code)
		if code != "" {
			require.ErrorIs(t, err, code)
			require.Equal(t, "CANARY", failure.Description)
		}
	}
}

func transportStep(step string) func(*testing.T, harness.Op, error) {
	return func(t *testing.T, _ harness.Op, err error) {
		t.Helper()
		failure, ok := errors.AsType[*prepaid.TransportError](err)
		require.True(t, ok, "no *TransportError")
		require.True(t, failure.Sent)
		require.Equal(t, step, failure.Step)
	}
}

func isUndecodable(status int) func(*testing.T, harness.Op, error) {
	return func(t *testing.T, op harness.Op, err error) {
		t.Helper()
		failure, ok := errors.AsType[*prepaid.DecodeError](err)
		require.True(t, ok, "no *DecodeError")
		require.Equal(t, cmp.Or(status, op.Status), failure.StatusCode)
	}
}

func coreFaults() []coreFault {
	return []coreFault{
		{
			name: "none", want: "1S 1S 1S 1S 1S 1S 1S",
			response: func(op harness.Op, _ int, p *harness.Peer) { p.Succeed(op) },
		},
		{
			name: "reset after the request", want: "3N 3U 3U 1U 1U 1U 1U", check: transportStep("headers"),
			response: func(_ harness.Op, _ int, p *harness.Peer) { p.Reset() },
		},
		{
			name: "no response in time", want: "3N 3U 3U 1U 1U 1U 1U", check: transportStep("headers"), timeout: time.Second,
			response: func(_ harness.Op, _ int, p *harness.Peer) { p.Hang() },
		},
		{
			name: "not HTTP", want: "3N 3U 3U 1U 1U 1U 1U", check: transportStep("headers"),
			response: func(_ harness.Op, _ int, p *harness.Peer) { p.Send("CANARY hello\r\n\r\n"); _ = p.Close() },
		},
		{
			name: "500 of the service", want: "3N 3U 1U 1U 1U 1U 1U", is: []error{prepaid.ErrServer, prepaid.CodeServerError},
			response: shapedFault(500, "server_error"), check: apiStatus(500, prepaid.CodeServerError),
		},
		{
			name: "502", want: "3N 3U 3U 1U 1U 1U 1U", is: []error{prepaid.ErrServer},
			response: statusFault(502, "", ""), check: apiStatus(502, ""),
		},
		{
			name: "502 of a gateway", want: "3N 3U 3U 1U 1U 1U 1U", is: []error{prepaid.ErrServer},
			response: statusFault(502, "text/html", harness.HTMLPage), check: apiStatus(502, ""),
		},
		{
			name: "503", want: "3N 3U 3U 1U 1U 1U 1U", is: []error{prepaid.ErrServer},
			response: shapedFault(503, "busy"), check: apiStatus(503, "busy"),
		},
		{
			name: "504", want: "3N 3U 3U 1U 1U 1U 1U", is: []error{prepaid.ErrServer},
			response: statusFault(504, "text/plain", "CANARY"), check: apiStatus(504, ""),
		},
		{
			name: "401 for a stale token", want: "2S 2S 2S 2S 2S 2S 2S",
			response: func(op harness.Op, n int, p *harness.Peer) {
				if n == 1 && p.Request.Header.Get("Authorization") == "Bearer token-1" {
					p.Respond(401, harness.VendorJSON, `{"error":"invalid_token"}`)
					return
				}
				p.Succeed(op)
			},
		},
		{
			name: "401 for ever", want: "2N 2N 2N 2N 2N 2N 2N", is: []error{prepaid.ErrUnauthorized},
			response: shapedFault(401, "invalid_token"), check: apiStatus(401, "invalid_token"),
		},
		{
			name: "400", want: "1R 1R 1R 1R 1R 1R 1R", is: []error{prepaid.ErrBadRequest, prepaid.CodeInvalidRequest},
			response: shapedFault(400, "invalid_request"), check: apiStatus(400, prepaid.CodeInvalidRequest),
		},
		{
			name: "403", want: "1R 1R 1R 1R 1R 1R 1R", is: []error{prepaid.ErrForbidden},
			response: shapedFault(403, "forbidden"), check: apiStatus(403, "forbidden"),
		},
		{
			name: "404", want: "1R 1R 1R 1R 1R 1R 1R", response: shapedFault(404, "not_found"),
			check: func(t *testing.T, op harness.Op, err error) {
				t.Helper()
				apiStatus(404, "not_found")(t, op, err)
				require.Equal(t, op.Name != "Accounts.Create", errors.Is(err, prepaid.ErrNotFound), "creation: it may mean bad input")
			},
		},
		{
			name: "408", want: "3N 3U 1U 1U 1U 1U 1U", response: statusFault(408, "", ""), check: apiStatus(408, ""),
		},
		{
			name: "403 of a gateway", want: "1R 3U 1U 1U 1U 1U 1U", is: []error{prepaid.ErrForbidden},
			response: statusFault(403, "text/html", harness.HTMLPage), check: apiStatus(403, ""),
		},
		{
			name: "409 without a body", want: "1R 3U 1U 1U 1U 1U 1U", is: []error{prepaid.ErrConflict},
			response: statusFault(409, "", ""), check: apiStatus(409, ""),
		},
		{
			name: "409", want: "1R 1R 1R 1R 1R 1R 1R", is: []error{prepaid.ErrConflict},
			response: shapedFault(409, "duplicate"), check: apiStatus(409, "duplicate"),
		},
		{
			name: "302", want: "1N 1U 1U 1U 1U 1U 1U", check: apiStatus(302, ""),
			response: func(_ harness.Op, _ int, p *harness.Peer) { p.Respond(302, "", "", "Location: /3.0/elsewhere") },
		},
		{
			name: "unexpected success", want: "1N 1U 1U 1U 1U 1U 1U",
			response: statusFault(202, harness.VendorJSON, `{}`), check: isUndecodable(202),
		},
		{
			name: "success that says error", want: "3N 3U 1U 1U 1U 1U 1U", is: []error{prepaid.CodeServerError},
			response: func(op harness.Op, _ int, p *harness.Peer) {
				p.Respond(op.Status, harness.VendorJSON, `{"error":"server_error","error_description":"CANARY"}`)
			},
			check: isUndecodable(0),
		},
		{
			name: "success cut off", want: "3N 3U 3U 1A 1U 1A 1U", check: transportStep("body"),
			response: func(op harness.Op, _ int, p *harness.Peer) {
				p.Send(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: 9000\r\n\r\n{", op.Status, harness.VendorJSON))
				_ = p.Close()
			},
		},
		{
			name: "success that is no JSON", want: "1A 3U 1U 1A 1U 1A 1U",
			response: func(op harness.Op, _ int, p *harness.Peer) { p.Respond(op.Status, harness.VendorJSON, `{"CANARY": `) },
			check:    isUndecodable(0),
		},
		{
			name: "success of a proxy", want: "1N 3U 1U 1U 1U 1U 1U", check: isUndecodable(0),
			response: func(op harness.Op, _ int, p *harness.Peer) {
				p.Respond(op.Status, "text/html; charset=utf-8", harness.HTMLPage)
			},
		},
		{
			name: "success of a proxy that names no type", want: "1N 3U 1U 1U 1U 1U 1U", check: isUndecodable(0),
			response: func(op harness.Op, _ int, p *harness.Peer) { p.Respond(op.Status, "", harness.HTMLPage) },
		},
		{
			name: "success beyond the limit", want: "1A 3U 1U 1A 1U 1A 1U", check: isUndecodable(0),
			response: func(op harness.Op, _ int, p *harness.Peer) {
				p.Respond(op.Status, harness.VendorJSON, `"`+strings.Repeat("CANARY", 4000)+`"`)
			},
		},
	}
}

// Each fault against one operation of each class: the number of attempts, the outcome in the error, and the reason.
func TestOutcomeOfEachFault(t *testing.T) {
	t.Parallel()
	for _, fault := range coreFaults() {
		words := strings.Fields(fault.want)
		ops := harness.Ops()
		require.Len(t, words, len(ops))
		for i, op := range ops {
			t.Run(fault.name+"/"+op.Name, func(t *testing.T) {
				t.Parallel()
				checkFault(t, fault, op, words[i])
			})
		}
	}
}

// After one attempt no other is named.
func TestOneAttemptNamesNoOther(t *testing.T) {
	t.Parallel()
	for _, fault := range coreFaults() {
		for _, op := range harness.Ops() {
			server := harness.NewServer(t, func(n int, p *harness.Peer) { fault.response(op, n, p) })
			config := harness.Config(server.Address)
			config.MaxResponseBytes, config.Retry.MaxAttempts, config.Retry.MaxThrottleWait = 16<<10, 1, 1
			if fault.timeout > 0 {
				config.AttemptTimeout = fault.timeout
			}
			err := op.Call(t.Context(), harness.NewClient(t, config))
			if len(server.Seen()) == 1 && err != nil {
				require.Equal(t, 1, harness.CallError(t, err).Attempts)
				require.NotContains(t, err.Error(), "earlier", "%s, %s", fault.name, op.Name)
				require.NotContains(t, err.Error(), "before", "%s, %s", fault.name, op.Name)
			}
		}
	}
}

func checkFault(t *testing.T, fault coreFault, op harness.Op, want string) {
	t.Helper()
	server := harness.NewServer(t, func(n int, p *harness.Peer) { fault.response(op, n, p) })
	config := harness.Config(server.Address)
	config.MaxResponseBytes = 16 << 10
	if op.RequestID != "" { // a repeat waits for as long
		config.AttemptTimeout = 1500 * time.Millisecond
	}
	if fault.timeout > 0 {
		config.AttemptTimeout = fault.timeout
	}
	client := harness.NewClient(t, config)
	began := time.Now()
	err := op.Call(t.Context(), client)
	ended := time.Now()

	requests, outcome := want[:len(want)-1], want[len(want)-1]
	seen := server.Seen()
	require.Equal(t, requests, strconv.Itoa(len(seen)), "requests; error: %v", err)
	for _, request := range seen {
		require.True(t, strings.HasPrefix(request.Target, op.Path), request.Target)
	}
	if outcome == 'S' {
		require.NoError(t, err)
		return
	}
	failure := harness.CallError(t, err)
	known := map[byte]prepaid.Outcome{
		'A': prepaid.OutcomeApplied, 'R': prepaid.OutcomeRejected, 'N': prepaid.OutcomeNotProcessed, 'U': prepaid.OutcomeUnknown,
	}
	require.Equal(t, known[outcome], failure.Outcome, "%v", err)
	require.Equal(t, failure.Outcome, prepaid.OutcomeOf(err))
	require.Equal(t, op.Name, failure.Operation)
	require.Equal(t, op.Account, failure.AccountID)
	require.Equal(t, op.RequestID, failure.RequestID)
	require.Equal(t, len(seen), failure.Attempts)
	require.False(t, failure.FirstSent.Before(began) || failure.LastSent.After(ended) || failure.LastSent.Before(failure.FirstSent))
	require.True(t, len(seen) <= 1 || failure.LastSent.After(failure.FirstSent))
	require.True(t, len(seen) > 1 || failure.LastSent.Sub(failure.FirstSent) < time.Second, "one that timed out may end late")
	for _, target := range fault.is {
		require.ErrorIs(t, err, target)
	}
	if len(seen) == 1 {
		require.NotContains(t, err.Error(), "earlier attempt", "there was none")
	}
	if fault.check != nil {
		fault.check(t, op, err)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%v", failure.Err)} {
		require.NotContains(t, text, "CANARY", "text of a response")
		require.NotContains(t, text, "token-", "the token")
		require.NotContains(t, text, "25.50", "the amount")
		require.NotContains(t, text, "\n")
	}
}
