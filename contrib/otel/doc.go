// Package prepaidotel creates OpenTelemetry spans and metrics for the calls of a prepaid client:
//
//	client, err := prepaid.NewClient(prepaidotel.Instrument(config, prepaidotel.Options{}))
//
// Each call is a span with the call's name, such as "Accounts.Transfer", and outcome. Each attempt is a child span that
// follows the HTTP client conventions, such as "POST /accounts/{id}/transfer". Calls share a token renewal, so the
// renewal's span is a root. The span of a streamed report ends when the stream begins.
//
// Only names of operations, path templates, statuses, counts, times, outcomes and kinds of errors are recorded: never an
// address with its path or query, an ID, an amount, a header, a body, or the text of an error.
//
// The metrics are http.client.request.duration, with one measurement per attempt, and:
//
//   - prepaid.call.unknown: calls of unknown outcome. Set an alert;
//   - prepaid.call.count, prepaid.call.duration: calls that ended, by outcome;
//   - prepaid.attempt.count, prepaid.attempt.throttled: attempts, and those refused with 429;
//   - prepaid.retry.wait, prepaid.limiter.wait: pauses before another attempt, and waits for the limiter;
//   - prepaid.token.renewal.count, prepaid.token.renewal.failed, prepaid.token.renewal.duration: token renewals.
package prepaidotel
