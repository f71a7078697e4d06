package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// closedAddress is an unused one of this machine: a port that was just closed may go to another test.
const closedAddress = "http://127.0.0.1:1"

// newHangUp listens and closes every connection after a greeting. Its address asks for TLS.
func newHangUp(t *testing.T, greeting string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepts sync.WaitGroup
	accepts.Go(func() {
		for connection, err := listener.Accept(); err == nil; connection, err = listener.Accept() {
			_, _ = io.WriteString(connection, greeting)
			_ = connection.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		accepts.Wait()
	})
	return "https://" + listener.Addr().String()
}

// If a RoundTripper does not report whether it sent, its error proves nothing.
func TestOutcomeOfForeignTransportErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault harness.Step
		want  prepaid.Outcome
		sent  bool
	}{
		"said":    {harness.Unreachable(syscall.ECONNREFUSED), prepaid.OutcomeNotProcessed, false},
		"dial":    {harness.Broken(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), prepaid.OutcomeUnknown, true},
		"name":    {harness.Broken(&net.DNSError{Err: "no such host", Name: "cards.example"}), prepaid.OutcomeUnknown, true},
		"unnamed": {harness.Broken(errors.New("odd")), prepaid.OutcomeUnknown, true},
		"read":    {harness.Broken(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), prepaid.OutcomeUnknown, true},
		"panic":   {func(*http.Request) (*http.Response, error) { panic("CANARY") }, prepaid.OutcomeUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure := harness.CallError(t, harness.OpCreate().Call(t.Context(), harness.NewScript(tc.fault).Client(t)))
			require.Equal(t, tc.want, failure.Outcome)
			require.Equal(t, tc.sent, failure.Attempts > 0)
			require.NotContains(t, failure.Error(), "CANARY")
		})
	}
}

// refusal is the error of a transport that did not send.
type refusal struct{ notSent bool }

func (refusal) Error() string { return "refused here" }

func (r refusal) NotSent() bool { return r.notSent }

// saying says it for its wrapped error.
type saying struct {
	refusal
	wrapped error
}

func (s saying) Unwrap() error { return s.wrapped }

type refusingTransport struct {
	err   error
	tries atomic.Int32
}

func (t *refusingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	t.tries.Add(1)
	return nil, t.err
}

// A caller's transport that reports "not sent" is believed, and asked once.
func TestTransportThatSaysNotSent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err     error
		outcome prepaid.Outcome
	}{
		{refusal{notSent: true}, prepaid.OutcomeNotProcessed},
		{&net.OpError{Op: "write", Err: refusal{notSent: true}}, prepaid.OutcomeNotProcessed},
		{refusal{}, prepaid.OutcomeUnknown},
		// Two ways were tried, and one of them may have sent.
		{errors.Join(refusal{notSent: true}, io.ErrUnexpectedEOF), prepaid.OutcomeUnknown},
		{fmt.Errorf("failover: %w; %w", io.ErrUnexpectedEOF, refusal{notSent: true}), prepaid.OutcomeUnknown},
		{fmt.Errorf("failover: %w", errors.Join(refusal{notSent: true}, refusal{})), prepaid.OutcomeUnknown},
		{errors.Join(refusal{notSent: true}, refusal{notSent: true}), prepaid.OutcomeNotProcessed},
		// Every leaf says so itself, and nothing above it the opposite.
		{saying{refusal{notSent: true}, io.ErrUnexpectedEOF}, prepaid.OutcomeUnknown},
		{saying{refusal{notSent: true}, errors.Join(refusal{notSent: true}, io.EOF)}, prepaid.OutcomeUnknown},
		{saying{refusal{}, refusal{notSent: true}}, prepaid.OutcomeUnknown},
		{saying{refusal{notSent: true}, refusal{notSent: true}}, prepaid.OutcomeNotProcessed},
		{fmt.Errorf("%w; %w", errors.Join(refusal{notSent: true}), &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), prepaid.OutcomeUnknown},
	} {
		transport := &refusingTransport{err: test.err}
		client, err := prepaid.NewClient(prepaid.Config{
			BaseURL: "https://cards.invalid/3.0/", Vendor: "vendor", Transport: transport,
			TokenSource: harness.StaticToken("token"),
		})
		require.NoError(t, err)
		_, err = client.Accounts.Create(t.Context(), harness.NewCardParams())
		require.Equal(t, test.outcome, prepaid.OutcomeOf(err), "%v", err)
		require.EqualValues(t, 1, transport.tries.Load())
		require.ErrorIs(t, err, test.err)
	}
}

// A transport that breaks its contract is an error, and holds no slot.
func TestTransportThatResponsesNothing(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*http.Response{"nothing": nil, "no body": {StatusCode: http.StatusNoContent}} {
		released := 0
		config := harness.Config("https://cards.invalid")
		config.Transport = harness.RoundTripFunc(func(*http.Request) (*http.Response, error) { return response, nil })
		config.Limiter = countingLimiter{&released}
		config.Retry.MaxAttempts = 1
		err := harness.OpPlastic().Call(t.Context(), harness.NewClient(t, config))
		require.Equal(t, 1, released, name)
		if response == nil {
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%v", err)
		}
	}
}

type countingLimiter struct{ released *int }

func (l countingLimiter) Acquire(context.Context, ratelimit.Lane) (ratelimit.Slot, error) {
	return l, nil
}

func (l countingLimiter) Release(ratelimit.Feedback) { *l.released++ }
