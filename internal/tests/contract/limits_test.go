package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The tables of this package follow the reference row by row. A limit names the section and the field, breaks only
// this limit, and has the nearest legal value, which must be sent.

// limit is one row: a change of a valid P that breaks one limit, and a change that just keeps it.
type limit[P any] struct {
	ref   string // section of the reference
	field string // path in Fault.Field
	rule  string // part of Fault.Rule
	shown string // the value that must not be in any text
	bad   func(*P)
	good  func(*P)
}

// requireLimits checks that a bad value sends no request, and that a good value sends one. With Config.SkipValueChecks a
// bad value sends a request too, unless its check is never skipped. valid makes a fresh value, since the rows change the
// values that it points to.
func requireLimits[P any](t *testing.T, valid func() P, call func(context.Context, *prepaid.Client, P) error, rows ...limit[P]) {
	t.Helper()
	sends(t, "valid", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, valid()) })
	for i, row := range rows {
		t.Run(fmt.Sprintf("%s %s %d", row.ref, row.field, i), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				params := valid()
				row.bad(&params)
				err := sendsNothing(t, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, params) })
				requireRefusal(t, err, row.shown, harness.Fault{Field: row.field, Rule: row.rule})
				if row.good != nil {
					params = valid()
					row.good(&params)
					sends(t, "legal neighbour", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, params) })
				}
				params = valid()
				row.bad(&params)
				skipping := harness.ServiceConfig()
				skipping.SkipValueChecks = true
				if isNeverSkipped(row.field, row.rule) {
					err := sendsNothingWith(t, skipping, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, params) })
					requireRefusal(t, err, row.shown, harness.Fault{Field: row.field, Rule: row.rule})
					return
				}
				sendsWith(t, skipping, "with SkipValueChecks", func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, params) })
			})
		})
	}
}

// requireRefusal checks the whole form of a refusal: exactly these faults, in this order, and nothing of the value.
func requireRefusal(t *testing.T, err error, shown string, want ...harness.Fault) {
	t.Helper()
	call, ok := err.(*prepaid.CallError)
	require.True(t, ok, "want *CallError, got %T: %v", err, err)
	require.Equal(t, prepaid.OutcomeRejected, call.Outcome)
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	require.NotEmpty(t, call.Operation)
	require.Zero(t, call.Attempts)
	require.True(t, call.FirstSent.IsZero())
	require.True(t, call.LastSent.IsZero())
	harness.RequireFaults(t, call.Err, shown, want...)
	harness.RequireNoPart(t, shown, fmt.Sprintf("%v %+v %s", err, err, err))
}

// fields returns a fault of each field, with any rule.
func fields(names ...string) []harness.Fault {
	faults := make([]harness.Fault, len(names))
	for i, name := range names {
		faults[i].Field = name
	}
	return faults
}

// zero returns the zero value, for calls that need no parameter.
func zero[P any]() P { return *new(P) }

// method returns a call of the Go method of an operation with values and then the P.
func method[P any](operation string, values ...any) func(context.Context, *prepaid.Client, P) error {
	return func(ctx context.Context, c *prepaid.Client, p P) error {
		return harness.Calling(operation, append(slices.Clip(values), p)...)(ctx, c)
	}
}

// sendsNothing runs call on a client whose every request fails the test.
func sendsNothing(t *testing.T, call func(context.Context, *prepaid.Client) error) error {
	t.Helper()
	return sendsNothingWith(t, harness.ServiceConfig(), call)
}

func sendsNothingWith(t *testing.T, config prepaid.Config, call func(context.Context, *prepaid.Client) error) error {
	t.Helper()
	config.Transport = harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request left: %s", r.Method)
		return nil, errors.New("no request may leave")
	})
	client := harness.NewClient(t, config)
	err := call(t.Context(), client)
	require.Error(t, err)
	return err
}

// sends runs call on a client whose service responds to everything but the token request, and returns the sent
// request. It fails when there was none, or when the client itself refused.
func sends(t *testing.T, name string, call func(context.Context, *prepaid.Client) error) sentRequest {
	t.Helper()
	return sendsWith(t, harness.ServiceConfig(), name, call)
}

func sendsWith(t *testing.T, config prepaid.Config, name string, call func(context.Context, *prepaid.Client) error) sentRequest {
	t.Helper()
	var sent sentRequest
	var count atomic.Int32
	config.Transport = harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			return harness.Grant(1, "3600")(r)
		}
		sent = sentRequest{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.RawQuery}
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			sent.body = string(body)
		}
		count.Add(1)
		return harness.Respond(http.StatusBadRequest, harness.VendorJSON, `{"error":"invalid_request"}`)(r)
	})
	client := harness.NewClient(t, config)
	err := call(t.Context(), client)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	require.False(t, invalid, "%s was refused: %v", name, err)
	require.ErrorIs(t, err, prepaid.ErrBadRequest, name)
	require.EqualValues(t, 1, count.Load(), "%s: requests", name)
	return sent
}

// sentRequest is the request that the service saw.
type sentRequest struct{ method, path, query, body string }

// put returns a change that sets one field.
func put[P, T any](at func(*P) *T, value T) func(*P) {
	return func(p *P) { *at(p) = value }
}

// atMost is the row of a text of at most n code points.
func atMost[P any, T ~string](ref, field string, n int, at func(*P) *T) limit[P] {
	return limit[P]{
		ref: ref, field: field, rule: fmt.Sprintf("at most %d characters", n), shown: harness.WideText(n + 1),
		bad: put(at, T(harness.WideText(n+1))), good: put(at, T(harness.WideText(n))),
	}
}

// needed is the row of a required text without a form of its own; a single character of any kind is legal.
func needed[P any, T ~string](ref, field string, at func(*P) *T) limit[P] {
	return limit[P]{ref: ref, field: field, rule: "is required", bad: put(at, T("")), good: put(at, T("Ж"))}
}

// form is the row of a text with a form of its own.
func form[P any, T ~string](ref, field, rule string, at func(*P) *T, bad, good T) limit[P] {
	return limit[P]{ref: ref, field: field, rule: rule, shown: string(bad), bad: put(at, bad), good: put(at, good)}
}

// forms are rows of form for one field, each bad value next to a good one.
func forms[P any, T ~string](ref, field, rule string, at func(*P) *T, pairs ...[2]T) []limit[P] {
	rows := make([]limit[P], 0, len(pairs))
	for _, pair := range pairs {
		rows = append(rows, form(ref, field, rule, at, pair[0], pair[1]))
	}
	return rows
}

// showing sets the distinctive part of the values of rows, where other parts stand in the rule as well.
func showing[P any](part string, rows ...limit[P]) []limit[P] {
	for i := range rows {
		rows[i].shown = part
	}
	return rows
}

// within makes rows about a part of P from rows about the part alone.
func within[P, Q any](prefix string, part func(*P) *Q, rows []limit[Q]) []limit[P] {
	outer := make([]limit[P], 0, len(rows))
	for _, row := range rows {
		o := limit[P]{ref: row.ref, field: prefix + row.field, rule: row.rule, shown: row.shown}
		o.bad = func(p *P) { row.bad(part(p)) }
		if row.good != nil {
			o.good = func(p *P) { row.good(part(p)) }
		}
		outer = append(outer, o)
	}
	return outer
}
