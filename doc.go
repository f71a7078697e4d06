// Package prepaid is a client for a REST service that manages stored-value card accounts. Package journal makes payments in bulk, package
// webhook receives webhooks, and package prepaidtest emulates all operations, with faults and a clock that can be moved.
//
// # Quick start
//
//	config, err := prepaid.ConfigFromEnv() // PREPAID_BASE_URL and similar
//	if err != nil {
//		return err // lists all faults
//	}
//	client, err := prepaid.NewClient(config)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	account, err := client.Accounts.Get(ctx, "EA10000000000001", prepaid.IncludeCardholder)
//
// Create one [Client] per process. Its fields are services, one for each resource. The comment of a method lists its own errors, its safety
// class (see Retries) and its request (API). [Client.Check] verifies at startup that the service is reachable and accepts the credentials.
// The client renews its access token in the background, 10 minutes before the token expires or halfway through a short lifetime. Meanwhile,
// calls use the old token.
//
// # Money
//
// Every error of a call is a [*CallError]. Decide by its outcome ([OutcomeOf]), never by a status. After [OutcomeApplied] the call took
// effect. After [OutcomeRejected] or [OutcomeNotProcessed] this call moved nothing. You must resolve [OutcomeUnknown]: repeat a transfer
// or direct entry out with the same params. After any other call, look for its effect: [AccountsService.FindMovement],
// [AccountsService.FindCreated], or the changed data. Finding nothing proves nothing. A client remembers its own unknown outcomes. In
// another process, set LastSent in the [TransferParams] to [CallError].LastSent.
//
// # Retries and limits
//
// The operation, not the HTTP method, decides whether a call may be sent again:
//
//   - read: changes nothing. Sent again after failures.
//   - repeated: fails safe if it arrives late (a block, a deletion). Sent again.
//   - keyed: has a [RequestID]. If the exchange broke off or returned 502, 503 or 504, sent again with the same bytes, no earlier than
//     [AccountsService.NotBefore]. A 500 ends the call at once with [OutcomeUnknown].
//   - never repeated: not sent again once it may have arrived.
//
// Every call is sent again if it was certainly not processed: after a failed connection, after a 429, and once with a new token after a
// 401. Once an attempt may have been applied, the outcome stays unknown until a success or, for a keyed call, a refusal for which
// [ProvesNotApplied] holds. [RetryPolicy] bounds attempts and pauses. The context bounds the call; a wait that would outlast its deadline
// does not start. [Client.With] derives a client with other bounds.
//
// The service allows 1,000 requests per 10 seconds from each address. The built-in limiter keeps one process within this limit; several
// processes split it with [Config].RateShare. Payments go before other calls, and other calls before prefetched pages. A 429 pauses the
// whole client.
//
// Paged operations are iterators, which end at an error; a ...Page method reads a single [Page]. [Paging].Prefetch reads pages ahead.
// [Collect] makes a slice.
//
// # Errors
//
// errors.Is finds sentinels such as [ErrNotFound] and the service's own codes such as [CodeInvalidURI]; errors.AsType finds typed causes.
// In addition to its own errors, every method may return *[ValidationError] before anything is sent; *[TokenError], *[TransportError],
// *[DecodeError], *[ratelimit.RefusedError]; [ErrBadRequest], [ErrUnauthorized], [ErrForbidden], [ErrRateLimited], [ErrServer], by status;
// [ErrClosed]; and the context's error. An iterator may also return *[IncompleteListError].
//
// Every params type has a method Validate, for a form or a job that is checked before its call: see [TransferParams.Validate].
//
// The text of an error or log record never contains personal data, amounts, references or the service's own text, unless
// [Config].ShowDescriptions adds that text. Of a payment it has the request ID and, if known, the correlation ID, to search for, unless the
// input was invalid. Everything else is in fields.
//
// # Values
//
// An [Amount] is exact. Times are sent in UTC with a resolution of one second. A birthday is a [Date]. An enumeration value that the
// reference does not list is kept as received; [Known] reports it. A [Secret] is never printed, not even in JSON. In fmt
// and slog, fields with personal data or content print as [REDACTED]; IDs, amounts, dates and your references do not: a reference must name
// no person. JSON is not redacted. Log such values one by one, because a JSON log writes a slice as JSON.
//
// # Observing
//
// [Config].Logger receives one record per call and one per repeated attempt. A [Trace] observes every attempt, pause and token. Operations
// are named by method and path template, without IDs, so that they can be metric labels. A context may add a Trace ([WithTrace]); only
// [Config].Propagate lets a context change a request.
//
// # For authors of stores
//
// Package journal stores payments in a file, and contrib/postgres in a database. Another store needs [PaymentParams], and the rules for a
// payment of unknown outcome: [AccountsService.NotBefore] and [AccountsService.AwaitRepeat] say when it may be sent again, and
// [ProvesNotApplied] says what a refusal proves. Programs that only pay need none of these.
package prepaid

//go:generate go -C tools run ./wiregen -w

// Types that arrive in large numbers are read on the fast path, and payments are written without reflection. wiregen generates wire_gen.go
// from the tags of these types and of the structs in them. A type that needs more than its tags has hand-written methods.
var (
	_ = []wireReadable{(*Account)(nil), (*AccountSummary)(nil), (*Transaction)(nil), (*transferResponse)(nil), (*MerchantCategory)(nil)}
	_ = []wireWritable{TransferParams{}, DirectEntryOutParams{}}
)
