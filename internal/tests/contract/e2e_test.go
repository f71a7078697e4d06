package contract

import (
	"cmp"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// stage is an emulator and a client of it, for one test.
type stage struct {
	*prepaidtest.Server
	t      *testing.T
	client *prepaid.Client
}

// onStage runs a test in a bubble with an emulator in memory, whose reports and clearings take no time, and a client. All have a clock on
// which a wait takes no time.
func onStage(t *testing.T, options prepaidtest.Options, test func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options.InMemory = true
		options.ReportDelay, options.SimulationDelay = cmp.Or(options.ReportDelay, -1), cmp.Or(options.SimulationDelay, -1)
		server := prepaidtest.NewServer(t, options)
		test(t, &stage{server, t, harness.NewClient(t, server.Config())})
	})
}

// statuses returns the emulator's statuses for an operation, oldest first.
func (s *stage) statuses(operation string) []int {
	statuses := []int{}
	for _, r := range s.Requests() {
		if r.Method+" "+r.Template == operation {
			statuses = append(statuses, r.Status)
		}
	}
	return statuses
}

// sent is the body of the newest request of an operation.
func (s *stage) sent(operation string) string {
	s.t.Helper()
	requests := s.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if requests[i].Method+" "+requests[i].Template == operation {
			return requests[i].Body
		}
	}
	require.Fail(s.t, "never sent", operation)
	return ""
}

// invalid checks that nothing was sent, and which fields were at fault.
func invalid(t *testing.T, err error, fields ...string) {
	t.Helper()
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	faults := harness.As[*prepaid.ValidationError](t, err)
	found := make([]string, len(faults.Faults))
	for i, fault := range faults.Faults {
		found[i] = fault.Field
	}
	require.Equal(t, fields, found)
}
