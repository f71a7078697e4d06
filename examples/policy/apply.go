package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	// mostRounds bounds how often an apply is begun again after an unknown outcome.
	mostRounds = 4
	// ensureLimit bounds the calls for one list, which Ctrl+C does not end.
	ensureLimit = 2 * time.Minute
)

var (
	errChanged = errors.New("somebody else has changed the policy")
	errStopped = errors.New("stopped")
)

// applier changes a policy to the wanted one.
type applier struct {
	client  *prepaid.Client
	company prepaid.CompanyID
	reason  string
	settle  time.Duration // from an unknown outcome to the next round
	out     io.Writer
}

// read returns the lists of the policy that wanted has. Ctrl+C does not end it: the result must be seen.
func (a *applier) read(ctx context.Context, wanted state) (current state, err error) {
	err = limited(ctx, func(ctx context.Context) error {
		p, err := a.client.Policy.Get(ctx, a.company)
		if err == nil {
			current = stateOf(p).within(wanted)
		}
		return err
	})
	return current, err
}

// limited makes calls that Ctrl+C does not cut off: a change that is cut off has an unknown outcome.
func limited(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ensureLimit)
	defer cancel()
	return call(ctx)
}

// converge changes the policy to wanted. After an unknown outcome it waits and begins again: what has been done by then is not
// sent again.
func (a *applier) converge(ctx context.Context, wanted state) (err error) {
	unknown := false
	for range mostRounds {
		err = a.round(ctx, wanted)
		// A call that is refused after an unknown outcome may be refused because the earlier one took effect in between.
		unknown = unknown || errors.Is(err, prepaid.ErrOutcomeUnknown)
		if !unknown || err == nil || errors.Is(err, errStopped) || errors.Is(err, prepaid.ErrPolicyChanged) {
			return err
		}
		fmt.Fprintf(a.out, "  %v\n  waiting %s and beginning again\n", err, a.settle)
		if !sleep(ctx, a.settle) {
			return errors.Join(err, errStopped)
		}
	}
	return err
}

// round changes all lists, first what restricts, then the rest. All rules of a program do the same, so none overrides another:
// if the default is to allow, adding a rule restricts; if it is to deny, removing one does. So nothing is opened in one list
// while something is still to be closed in another, wherever the calls end.
func (a *applier) round(ctx context.Context, wanted state) error {
	restrict, removes := wanted, false
	if wanted.action == prepaid.PolicyActionDeny {
		current, err := a.read(ctx, wanted)
		if err != nil {
			return err
		}
		restrict, removes = wanted.among(current), true
	}
	if err := a.ensure(ctx, restrict, removes, false); err != nil {
		return err
	}
	return a.ensure(ctx, wanted, true, true)
}

// ensure changes each list that wanted has.
func (a *applier) ensure(ctx context.Context, wanted state, removeOthers, replaceTexts bool) error {
	policies := a.client.Policy
	for _, list := range []struct {
		managed bool
		ensure  func(context.Context) error
	}{
		{wanted.categories != nil, func(ctx context.Context) error {
			_, err := policies.EnsureCategories(ctx, a.company, prepaid.EnsureCategoriesParams{
				DefaultAction: wanted.action, Categories: sortedKeys(wanted.categories, cmp.Compare[prepaid.MCC]),
				RemoveOthers: removeOthers, Reason: a.reason,
			})
			return err
		}},
		{wanted.merchants != nil, func(ctx context.Context) error {
			_, err := policies.EnsureMerchants(ctx, a.company, prepaid.EnsureMerchantsParams{
				DefaultAction: wanted.action, Merchants: sorted(wanted.merchants, compareMerchants),
				RemoveOthers: removeOthers, ReplaceTexts: replaceTexts, Reason: a.reason,
			})
			return err
		}},
		{wanted.terminals != nil, func(ctx context.Context) error {
			_, err := policies.EnsureTerminals(ctx, a.company, prepaid.EnsureTerminalsParams{
				DefaultAction: wanted.action, Terminals: sorted(wanted.terminals, compareTerminals),
				RemoveOthers: removeOthers, ReplaceTexts: replaceTexts, Reason: a.reason,
			})
			return err
		}},
	} {
		if !list.managed {
			continue
		}
		if ctx.Err() != nil {
			return errStopped
		}
		if err := limited(ctx, list.ensure); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the rules of a list in the order of the keys, never nil.
func sorted[K comparable, R any](list map[K]R, order func(a, b K) int) []R {
	rules := make([]R, 0, len(list))
	for _, key := range sortedKeys(list, order) {
		rules = append(rules, list[key])
	}
	return rules
}

func sortedKeys[K comparable, R any](list map[K]R, order func(a, b K) int) []K {
	keys := slices.AppendSeq(make([]K, 0, len(list)), maps.Keys(list))
	slices.SortFunc(keys, order)
	return keys
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
