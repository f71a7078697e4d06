package contract

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/tree"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Every operation of the emulator is called through the client, and responds with the success of its row.
func TestE2EEveryOperationSucceeds(t *testing.T) {
	t.Parallel()
	onHookStage(t, prepaidtest.Options{}, func(t *testing.T, s *hookStage) {
		called := []string{}
		for _, e := range exercises() {
			called = append(called, e.operation)
			require.NoError(t, e.prepare(s)(t.Context()), e.operation)
			responded := s.statuses(e.operation)
			require.NotEmpty(t, responded, e.operation)
			want, _, _ := strings.Cut(e.row().Success, ",")
			switch e.operation {
			case "GET /accounts", "GET /accounts/{id}/tokens", "GET /hooks/{id}/undeliverable": // there are none
				want = "204"
			}
			require.Equal(t, want, strconv.Itoa(responded[len(responded)-1]), e.operation)
		}
		require.ElementsMatch(t, prepaidtest.Operations(), called)
	})
}

// row is the exercise's operation.
func (e exercise) row() operations.Operation {
	for _, row := range operations.All() {
		if row.Method+" "+row.Path == e.operation {
			return row
		}
	}
	return operations.Operation{}
}

// effect is the safety class and, where it matters, the possible body of a success, or that a 500 is final.
func (e exercise) effect() string {
	row := e.row()
	switch {
	case row.Safety == "never" && (row.Body == "none" || row.Body == "refusal"):
		return "never, " + row.Body
	case strings.Contains(row.Also, "500=final"):
		return "read, final"
	}
	return row.Safety
}

// wireFault is a fault that occurs once, and the result of the call.
type wireFault struct {
	name  string
	fault prepaidtest.Fault
	// fails are the operations that end with an error; all others succeed.
	fails map[string]prepaid.Outcome
	check func(t *testing.T, err error)
}

const (
	unknown      = prepaid.OutcomeUnknown
	applied      = prepaid.OutcomeApplied
	notProcessed = prepaid.OutcomeNotProcessed
)

func wireFaults() []wireFault {
	responded := func(status int) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			t.Helper()
			response := harness.As[*prepaid.APIError](t, err)
			require.Equal(t, status, response.StatusCode)
			if status >= 500 {
				require.ErrorIs(t, err, prepaid.ErrServer)
				require.ErrorIs(t, err, prepaid.CodeServerError)
			}
		}
	}
	broken := func(t *testing.T, err error) {
		t.Helper()
		cause := harness.As[*prepaid.TransportError](t, err)
		require.True(t, cause.Sent)
	}
	lost := map[string]prepaid.Outcome{"never": unknown, "never, refusal": unknown, "never, none": unknown}
	return []wireFault{
		{"429", prepaidtest.Respond(429, ""), nil, nil},
		{"401", prepaidtest.Respond(401, "invalid_token"), map[string]prepaid.Outcome{"token": notProcessed}, responded(401)},
		{"500", prepaidtest.Respond(500, ""), map[string]prepaid.Outcome{
			"keyed": unknown, "never": unknown, "never, refusal": unknown, "never, none": unknown, "read, final": notProcessed,
		}, responded(500)},
		{"503", prepaidtest.Respond(503, ""), lost, responded(503)},
		{"response lost", prepaidtest.CommitThenDrop(), lost, broken},
		{"request lost", prepaidtest.DropBeforeCommit(), lost, broken},
		// The status of a truncated response proves success, unless the body could be a refusal.
		{"response truncated", prepaidtest.Truncate(), map[string]prepaid.Outcome{
			"never": applied, "never, refusal": unknown, "never, none": unknown,
		}, broken},
	}
}

// One operation of each class meets each fault of the wire once: it succeeds, or ends with the only outcome that its
// effect allows.
func TestE2EEveryOperationMeetsEveryFault(t *testing.T) {
	t.Parallel()
	for _, e := range tree.OneOfEach(exercises(), func(e exercise) string { return e.effect() + " of " + e.row().Class() }) {
		t.Run(e.operation, func(t *testing.T) {
			t.Parallel()
			onHookStage(t, prepaidtest.Options{}, func(t *testing.T, s *hookStage) {
				for _, f := range wireFaults() {
					call := e.prepare(s)
					s.Inject(e.operation, f.fault)
					err := call(t.Context())
					require.Zero(t, s.FaultsLeft(), f.name)
					outcome, fails := f.fails[e.effect()]
					if !fails {
						require.NoError(t, err, f.name)
						continue
					}
					require.Error(t, err, f.name)
					require.Equal(t, outcome, prepaid.OutcomeOf(err), "%s: %v", f.name, err)
					f.check(t, err)
				}
			})
		})
	}
}

// A call that ends before it is sent has no effect.
func TestE2EEveryOperationCancelledBeforeSending(t *testing.T) {
	t.Parallel()
	onHookStage(t, prepaidtest.Options{}, func(t *testing.T, s *hookStage) {
		ended, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		for _, e := range exercises() {
			call := e.prepare(s)
			before := len(s.Requests())
			err := call(ended)
			require.ErrorIs(t, err, context.DeadlineExceeded, e.operation)
			require.Equal(t, notProcessed, prepaid.OutcomeOf(err), e.operation)
			require.Len(t, s.Requests(), before, e.operation)
		}
	})
}
