package faults

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
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

// A caller's transport that reports "not sent" is believed, and asked once. Any other error proves nothing.
func TestTransportThatSaysNotSent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err     error
		outcome prepaid.Outcome
	}{
		{refusal{notSent: true}, prepaid.OutcomeNotProcessed},
		{&net.OpError{Op: "write", Err: refusal{notSent: true}}, prepaid.OutcomeNotProcessed},
		{refusal{}, prepaid.OutcomeUnknown},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, prepaid.OutcomeUnknown},
		{&net.DNSError{Err: "no such host", Name: "cards.example"}, prepaid.OutcomeUnknown},
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
		script := harness.NewScript(harness.Broken(test.err))
		err := harness.OpCreate().Call(t.Context(), script.Client(t))
		require.Equal(t, test.outcome, prepaid.OutcomeOf(err), "%v", err)
		require.Len(t, script.Requests(), 1)
		require.ErrorIs(t, err, test.err)
	}
}

// A transport that breaks its contract is an error, and holds no slot.
func TestTransportThatReturnsNothing(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*http.Response{"nothing": nil, "no body": {StatusCode: http.StatusNoContent}} {
		limiter := new(feedbackLimiter)
		config := harness.Config("https://cards.invalid")
		config.Transport = harness.RoundTripFunc(func(*http.Request) (*http.Response, error) { return response, nil })
		config.Limiter = limiter
		config.Retry.MaxAttempts = 1
		err := harness.OpPlastic().Call(t.Context(), harness.NewClient(t, config))
		require.Len(t, limiter.feedback, 1, name)
		if response == nil {
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%v", err)
		}
	}
}
