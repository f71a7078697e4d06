package journal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal"
)

const (
	queued    = journal.StateQueued
	intended  = journal.StateIntended
	notSent   = journal.StateNotSent
	unknown   = journal.StateUnknown
	done      = journal.StateDone
	rejected  = journal.StateRejected
	withdrawn = journal.StateWithdrawn
)

// machine has a row for each event: the next state from each of the columns.
const machine = `
		queued     intended  not_sent   unknown   done  rejected   withdrawn
begin		intended   unknown   intended   unknown   -     intended   -
not sent	-          not_sent  -          unknown   -     -          -
refused		-          rejected  -          unknown   -     -          -
unknown		-          unknown   -          unknown   -     -          -
done		-          done      -          done      -     -          -
not moved	-          rejected  -          rejected  -     -          -
withdraw	withdrawn  -         withdrawn  -         -     withdrawn  -
retry		-          -         -          -         -     not_sent   not_sent`

func TestMachine(t *testing.T) {
	t.Parallel()
	rows := strings.Split(machine, "\n")[1:]
	require.Len(t, rows, 1+int(journal.EventRetry))
	states := strings.Fields(rows[0])
	require.Len(t, states, len(journal.States()))
	for event, row := range rows[1:] {
		event, cells := journal.Event(event+1), strings.Fields(row)
		cells = cells[len(cells)-len(states):]
		require.Equal(t, event.String(), strings.TrimSpace(strings.Split(row, "\t")[0]))
		for i, state := range journal.States() {
			require.Equal(t, states[i], string(state))
			next, ok := state.Next(event)
			require.Equal(t, cells[i] != "-", ok, "%s, %s", state, event)
			if !ok {
				cells[i] = states[i]
			}
			require.Equal(t, cells[i], string(next), "%s, %s", state, event)
		}
	}
	for _, state := range append(journal.States(), "lost") {
		for _, event := range []journal.Event{0, journal.EventRetry + 1} {
			next, ok := state.Next(event)
			require.False(t, ok)
			require.Equal(t, state, next)
		}
	}
	_, ok := journal.State("lost").Next(journal.EventBegin)
	require.False(t, ok)
}

func TestStatesAndEventsHaveNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "event(9)", (journal.EventRetry + 1).String())
	var open, pending []journal.State
	for _, state := range journal.States() {
		if state.Open() {
			open = append(open, state)
		}
		if state.Pending() {
			pending = append(pending, state)
		}
	}
	require.Equal(t, []journal.State{intended, unknown}, open)
	require.Equal(t, []journal.State{queued, intended, notSent, unknown}, pending)
}

// truth is the true state of the money, unlike the store's.
type truth int

const (
	still   truth = iota // no run can have moved it
	running              // only the current run can have moved it
	maybe                // an earlier run, or one that died, can have
	moved                // it has moved
)

// after returns the truth after an event that was possible.
func (t truth) after(event journal.Event) truth {
	switch event {
	case journal.EventBegin:
		if t == still {
			return running
		}
		return maybe // the sender of the run before died
	case journal.EventNotSent, journal.EventRefused: // proof about only this run
		if t == running {
			return still
		}
	case journal.EventUnknown:
		return maybe
	case journal.EventDone:
		return moved
	case journal.EventNotMoved:
		return still
	case journal.EventWithdraw, journal.EventRetry:
	}
	return t
}

// If the money may have moved, no sequence of events without proof leads to a state in which it has not; nothing leads away from
// done. The reachable pairs of state and truth are finite: the test visits all.
func TestNoSequenceForgetsMoneyThatMayHaveMoved(t *testing.T) {
	t.Parallel()
	type situation struct {
		state journal.State
		money truth
	}
	saysNotMoved := []journal.State{queued, notSent, rejected, withdrawn}
	reached := map[situation]bool{}
	for open := []situation{{queued, still}, {notSent, still}}; len(open) > 0; {
		now := open[0]
		if open = open[1:]; reached[now] {
			continue
		}
		reached[now] = true
		require.Equal(t, now.money == still, slices.Contains(saysNotMoved, now.state), "%+v", now)
		require.Equal(t, now.money == moved, now.state == done, "%+v", now)
		require.False(t, now.money == maybe && now.state == intended, "the next refusal would count as proof")
		for event := journal.EventBegin; event <= journal.EventRetry; event++ {
			if next, ok := now.state.Next(event); ok {
				require.NotEqual(t, done, now.state)
				open = append(open, situation{next, now.money.after(event)})
			}
		}
	}
	require.Len(t, reached, len(journal.States()), "each state says one thing of the money")
}
