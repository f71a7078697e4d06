package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The parts of docs/safety.json that are found by observing the client.

// measuredOperations finds the class of each request of the fixtures by the attempts that the client makes, and the results and refusals by
// their outcomes. If the class depends on a member, it is never, except with the listed values: a program that does not know the list,
// or sends another value, never repeats the request.
func measuredOperations(t *testing.T) []safetyOperation {
	t.Helper()
	fixtures := contract.ReadFixtures(t)
	var rows []safetyOperation
	for _, o := range reference.Read().Operations {
		var also []string
		for _, status := range slices.Sorted(maps.Keys(o.Also)) {
			also = append(also, status+"="+o.Also[status])
		}
		row := safetyOperation{
			Operation: o.Name, Method: o.Method, Path: o.Path, Safety: o.Safety, Success: o.Success(), Body: o.Body, Also: strings.Join(also, ","),
		}
		bodies, uncached := map[string][]map[string]any{}, map[string][]map[string]any{} // of requests, by class
		results := map[prepaid.Outcome][]map[string]any{}
		for _, c := range contract.Cases() {
			f := fixtures[c.Fixture]
			if f.Operation != o.Name || !slices.Contains(row.Success, fmt.Sprint(f.Response.Status)) {
				continue
			}
			var request, response map[string]any
			if f.Request.Body != nil {
				require.NoError(t, json.Unmarshal(f.Request.Body, &request))
			}
			_ = json.Unmarshal(f.Body(), &response)
			tested := tableCase{safety: o.Safety, call: c.Call}
			for _, never := range []bool{false, true} {
				class := o.Safety
				synctest.Test(t, func(t *testing.T) {
					trouble := &troubled{alive: o.Safety == "keyed"}
					config := contract.Config(trouble)
					config.NeverRepeatLoads, config.Retry = never, prepaid.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}
					if _ = tested.run(t.Context(), t, config); trouble.requests == 1 {
						class = "never"
					}
				})
				by := map[bool]map[string][]map[string]any{false: bodies, true: uncached}[never]
				by[class] = append(by[class], request)
			}
			synctest.Test(t, func(t *testing.T) {
				err := tested.run(t.Context(), t, contract.Config(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
					header := http.Header{}
					for name, value := range f.Response.Header {
						header.Set(name, value)
					}
					return &http.Response{StatusCode: f.Response.Status, Header: header, Body: io.NopCloser(strings.NewReader(string(f.Body()))), Request: r}, nil
				})))
				results[prepaid.OutcomeOf(err)] = append(results[prepaid.OutcomeOf(err)], response)
			})
		}
		require.NotEmpty(t, bodies[o.Safety], o.Name)
		decides := func(by map[string][]map[string]any, member, class string) []any {
			values := valuesOf(by[class], member)
			for other := range by {
				require.False(t, other != class && slices.ContainsFunc(valuesOf(by[other], member), func(v any) bool { return slices.Contains(values, v) }), o.Name)
			}
			return values
		}
		switch {
		case len(bodies) > 1:
			row.Safety = "never"
			for member := range o.Never {
				row.When = append(row.When, safetyWhen{Member: member, Values: decides(bodies, member, o.Safety), Safety: o.Safety})
			}
		case len(uncached) > 1:
			row.When = []safetyWhen{{Setting: "never_repeat_loads", Member: "transaction_type", Values: decides(uncached, "transaction_type", "never"), Safety: "never"}}
		}
		if keys := valuesOf(bodies["keyed"], "request_id"); len(keys) > 0 {
			row.Key = "request_id"
		}
		if o.Body == "refusal" || o.Safety == "keyed" {
			for _, member := range []string{"outcome", "success", "transaction_id"} {
				values := valuesOf(results[prepaid.OutcomeApplied], member)
				switch {
				case len(values) == 0 || row.Result != nil:
					continue
				case member == "transaction_id":
					row.Result = &memberIs{Member: member, Above: new(0.0)}
				default:
					row.Result = &memberIs{Member: member, Values: values}
				}
				if refused := valuesOf(results[prepaid.OutcomeRejected], member); len(refused) > 0 {
					row.Refusal = &memberIs{Member: member, Values: refused}
				}
			}
			require.NotNil(t, row.Result, o.Name)
		}
		rows = append(rows, row)
	}
	return rows
}

func valuesOf(bodies []map[string]any, member string) (values []any) {
	for _, body := range bodies {
		if value, has := body[member]; has && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// repeats runs a transfer whose first attempt is lost, against responses to the reads and to the further attempts. It returns the attempts
// and the outcome.
func repeats(t *testing.T, read, then harness.Step) (attempts int, outcome prepaid.Outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var first string
		client := harness.NewClient(t, harness.ClockConfig(harness.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
			if harness.IsPathRead(r) {
				return read(r)
			}
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			if attempts++; attempts == 1 {
				first = string(body)
				return nil, harness.ErrCut
			}
			require.Equal(t, first, string(body), "the same bytes")
			return then(r)
		})))
		outcome = prepaid.OutcomeOf(harness.OpTransfer().Call(t.Context(), client))
	})
	return attempts, outcome
}

// ranges returns the statuses for which f holds, as "400" or "400-403".
func ranges(f func(status int) bool) (found []string) {
	for first := 200; first < 600; first++ {
		last := first
		for last < 600 && f(last) {
			last++
		}
		if last > first {
			found = append(found, strings.TrimSuffix(fmt.Sprintf("%d-%d", first, last-1), fmt.Sprintf("-%d", first)))
			first = last
		}
	}
	return found
}

// ofTypes returns the media types for which f holds.
func ofTypes(f func(mediaType string) bool) (found []string) {
	for _, mediaType := range []string{harness.VendorJSON, "application/vnd.error+json", "application/json", "text/plain", ""} {
		if f(mediaType) {
			found = append(found, strings.ReplaceAll(mediaType, "vnd.vendor", "vnd.{vendor}"))
		}
	}
	return found
}

// measuredHeader finds the headers of the reads before a repeat that other reads do not have.
func measuredHeader(t *testing.T) map[string]string {
	t.Helper()
	own := map[string]string{}
	repeats(t, func(r *http.Request) (*http.Response, error) {
		for name := range r.Header {
			own[name] = r.Header.Get(name)
		}
		return harness.Respond(http.StatusOK, harness.VendorJSON, "{}")(r)
	}, harness.Succeed(harness.OpTransfer()))
	service := harness.NewScript(harness.Succeed(harness.OpGet()))
	require.NoError(t, harness.OpGet().Call(t.Context(), service.Client(t)))
	for name := range service.Requests()[0].Header {
		delete(own, name)
	}
	return own
}

// measuredSigns finds the responses after which the client repeats a payment of unknown outcome.
func measuredSigns(t *testing.T) condition {
	t.Helper()
	counts := func(status int, mediaType string, headers ...string) bool {
		attempts, _ := repeats(t, harness.Respond(status, mediaType, "{}", headers...), harness.Succeed(harness.OpTransfer()))
		return attempts > 1
	}
	sign := condition{
		Complete: new(true), Status: ranges(func(status int) bool { return counts(status, harness.VendorJSON) }),
		MediaTypes: ofTypes(func(mediaType string) bool { return counts(http.StatusOK, mediaType) }),
	}
	for _, header := range []string{"Age", "Via", "X-Cache"} {
		if !counts(http.StatusOK, harness.VendorJSON, header+": 0") {
			sign.Without = append(sign.Without, header)
		}
	}
	return sign
}

// measuredRefusals finds the refusals of a repeat after which the client knows that nothing moved.
func measuredRefusals(t *testing.T) []condition {
	t.Helper()
	resolves := func(status int, mediaType, code string) bool {
		_, outcome := repeats(t, harness.Respond(200, harness.VendorJSON, "{}"), harness.Respond(status, mediaType, `{"error":"`+code+`"}`))
		return outcome == prepaid.OutcomeRejected
	}
	code := string(prepaid.CodeInvalidRequest)
	for _, other := range []string{"duplicate_request", "forbidden", "not_found", "server_error", "unauthorized", "invalid_client"} {
		require.False(t, resolves(http.StatusBadRequest, harness.VendorJSON, other), other)
	}
	return []condition{{
		Status: ranges(func(status int) bool { return resolves(status, harness.VendorJSON, code) }), Form: "error", Codes: []string{code},
		MediaTypes: ofTypes(func(mediaType string) bool { return resolves(http.StatusBadRequest, mediaType, code) }),
	}}
}

// waits are ages of a request of unknown outcome: when package liveness asks, when responses arrive, and when it permits the repeat. signs
// counts the responses.
type waits struct{ firstAsked, first, secondAsked, second, repeat, signs float64 }

// measuredWaits returns the waits of package liveness if the service is silent until the request has the age silence, and needs slow
// for its second response.
func measuredWaits(t *testing.T, settings scope, silence, slow float64) (w waits) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		attempt, wait := seconds(settings.value("attempt_timeout")), seconds(settings.value("in_flight_wait"))
		tracker, sent := liveness.New(attempt, wait), time.Now()
		age := func() float64 { return time.Since(sent).Seconds() }
		err := tracker.Await(t.Context(), liveness.Request{First: sent, Last: sent, NotBefore: sent.Add(attempt + wait)}, 24*time.Hour,
			liveness.Reader{Read: func(context.Context) (bool, error) {
				asked, at := age(), time.Now()
				if w.firstAsked == 0 {
					w.firstAsked = asked
				}
				if asked < silence {
					return false, harness.ErrCut
				}
				time.Sleep(time.Millisecond)
				if w.signs++; w.signs == 2 {
					time.Sleep(seconds(slow) - time.Millisecond)
				}
				tracker.Responded(at)
				if w.signs == 1 {
					w.first = age()
				} else if w.secondAsked, w.second = asked, age(); w.signs > 4 {
					t.Error("endless")
				}
				return false, nil
			}})
		require.NoError(t, err)
		w.repeat = age()
	})
	return w
}
