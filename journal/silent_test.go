package journal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A run without reported attempts (in a wrapper, after a panic) may have sent until its end: the
// next run rests from then on, not from the time of an earlier run.
func TestRestAfterAnErrorWithoutTimes(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"an error of its own": errors.New("gateway: no reply"), "nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
			e, _ := begin(t, entry(t, canaryTransfer()), start).End(start.Add(time.Second), nil, &prepaid.CallError{
				Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: start, LastSent: start, NotBefore: start.Add(40 * time.Second),
			})
			require.Equal(t, journal.StateUnknown, e.State)

			second := start.Add(time.Hour)
			end := second.Add(30 * time.Second)
			e, _ = begin(t, e, second).End(end, nil, err)
			require.Equal(t, journal.StateUnknown, e.State)
			require.False(t, e.Earliest(&sender{}, end).Before(end.Add(40*time.Second)),
				"may be sent again at %v, although it was sent until %v", e.Earliest(&sender{}, end).Format("15:04:05"), end.Format("15:04:05"))
			require.False(t, begin(t, e, end.Add(time.Minute)).LastSent.Before(end), "LastSent for the client")
		})
	}
}
