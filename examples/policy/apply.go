package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	// mostRounds bounds how often an apply plans again. Usually one is enough; each unknown outcome costs one more.
	mostRounds = 4
	// callLimit bounds a call, which Ctrl+C does not end.
	callLimit = 2 * time.Minute
)

var (
	errChanged = errors.New("somebody else has changed the policy")
	errStopped = errors.New("stopped")
	errRounds  = errors.New("the policy still differs from the wanted one after several rounds")
)

// applier changes a policy to the wanted one.
type applier struct {
	client  *prepaid.Client
	company prepaid.CompanyID
	reason  string
	batch   int
	settle  time.Duration // from a call of unknown outcome to reading back
	out     io.Writer
	bar     *progress

	doubts []step // calls that may have been applied, or may still be
}

// read returns the lists of the policy that wanted has. Ctrl+C does not end it: the result must be seen.
func (a *applier) read(ctx context.Context, wanted state) (state, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	p, err := a.client.Policy.Get(ctx, a.company)
	if err != nil {
		return state{}, err
	}
	return stateOf(p).within(wanted), nil
}

// converge changes the policy from current to wanted and returns the policy that it read last. A change is never
// repeated. After an unknown outcome it reads back and plans again, which sends what is missing and nothing that has
// been done.
func (a *applier) converge(ctx context.Context, current, wanted state) (state, error) {
	for range mostRounds {
		p := makePlan(current, wanted)
		if p.empty() {
			return current, nil
		}
		before := len(a.doubts)
		expected, failed := a.makeCalls(ctx, current, p.steps(a.batch))
		refused := prepaid.OutcomeOf(failed) == prepaid.OutcomeRejected
		if failed != nil && !refused && !errors.Is(failed, errStopped) {
			fmt.Fprintf(a.out, "  %v\n  waiting %s, reading back and planning again\n", failed, a.settle)
			if !sleep(ctx, a.settle) {
				failed = errStopped
			}
		}
		got, err := a.read(ctx, wanted)
		if err != nil {
			return expected, errors.Join(failed, err)
		}
		current = got
		left := makePlan(current, wanted)
		switch {
		case !explains(a.possible(expected), got):
			return current, errors.Join(failed, errChanged)
		case left.empty():
			return current, nil
		case errors.Is(failed, errStopped), refused && before == 0:
			return current, failed // refused after an unknown outcome: that call may have taken effect in between, so look again
		}
	}
	return current, errRounds
}

// makeCalls makes the calls up to the first that fails, and returns the expected policy without that one.
func (a *applier) makeCalls(ctx context.Context, expected state, steps []step) (state, error) {
	rules := 0
	for i := range steps {
		rules += steps[i].rules()
	}
	a.bar.more(rules)
	for i := range steps {
		s := &steps[i]
		if ctx.Err() != nil && !s.secondHalf { // between the halves there are fewer rules than before and after
			return expected, errStopped
		}
		err := a.call(ctx, s)
		switch prepaid.OutcomeOf(err) {
		case prepaid.OutcomeApplied:
			expected = s.after(expected)
			a.bar.done(s.rules())
			continue
		case prepaid.OutcomeUnknown:
			a.doubts = append(a.doubts, *s)
		}
		return expected, err
	}
	return expected, nil
}

// call makes one call. Ctrl+C takes effect between calls: a call that is cut off has an unknown outcome.
func (a *applier) call(ctx context.Context, s *step) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer cancel()
	return s.send(ctx, a.client, a.company, a.reason)
}

// possible returns the policies that may be found if nobody else changes any: the expected one, and what each call of
// unknown outcome makes of it, however late.
func (a *applier) possible(expected state) []state {
	states := []state{expected}
	for i := range a.doubts {
		states = append(states, a.doubts[i].after(expected))
	}
	return states
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
