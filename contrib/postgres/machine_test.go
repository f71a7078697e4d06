package prepaidpg

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// For any earlier entry, the end of a run is written as journal.Run.End or GiveBack returns it.
func TestOutcomeIsEnd(t *testing.T) {
	t.Parallel()
	now := time.Now()
	results := map[string]func(run journal.Run) journal.Entry{"given back": journal.Run.GiveBack}
	for name, err := range map[string]error{
		"done": nil, "rejected": rejected(), "unknown": (&teller{rest: time.Minute}).unknownNow(), "not processed": notProcessed(),
		"expired": &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, Err: prepaid.ErrRequestIDExpired},
		"reused":  &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: prepaid.ErrRequestIDReused},
		"failed": &prepaid.CallError{
			Outcome: prepaid.OutcomeRejected, Attempts: 1, FirstSent: now, LastSent: now, CorrelationID: "i", Err: prepaid.ErrTransferFailed,
		},
	} {
		results[name] = func(run journal.Run) journal.Entry {
			var result *prepaid.TransferResult
			if err == nil {
				result = &prepaid.TransferResult{TransactionID: "7", CorrelationID: "i"}
			}
			after, _ := run.End(time.Now(), result, err)
			return after
		}
	}
	s := newStore(t)
	for _, state := range journal.States() {
		if !state.Pending() {
			continue
		}
		for name, result := range results {
			params := transfer(string(state) + name)
			s.enqueue(params)
			s.exec(`update prepaid.payments set state = $2 where request_id = $1`, params.RequestID, string(state))
			if state != journal.StateQueued {
				s.exec(`update prepaid.payments set began = now() - interval '1 hour', runs = 3, attempts = 4, code = 'c', correlation_id = 'i',
					resolved = true, not_before = now() - interval '1 minute', last_sent = now() - interval '2 minutes',
					first_sent = now() - interval '3 minutes' where request_id = $1`, params.RequestID)
			}
			list := s.claims(&teller{rest: time.Minute}, 5)
			require.Len(t, list, 1)
			going, err := list[0].Entry.Begin(time.Now())
			require.NoError(t, err)
			after := result(going)
			end := journal.End{Fence: list[0].Fence, Entry: after, GivenBack: name == "given back"}
			recorded, err := s.Record(t.Context(), []journal.End{end})
			require.NoError(t, err)
			require.Equal(t, []journal.Recorded{{Written: true}}, recorded)
			t.Log(fmt.Sprint(state, " ", name, " ", after.State))
			after.Sealed = nil
			if !end.GivenBack {
				after.Changed = time.Now()
			}
			near(t, after, s.entry(params.RequestID))
			require.Equal(t, fmt.Sprint(after.Due()), text(t, s.pool, "select (due is not null)::text from prepaid.payments where request_id = $1", params.RequestID))
			s.exec("delete from prepaid.payments")
		}
	}
}
