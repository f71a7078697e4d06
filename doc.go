// Package prepaid is a client for a REST service that manages stored-value card accounts: accounts, transfers,
// wallets and key exchange, program policy, reports, funding, a transaction simulator, PIN change and webhooks.
//
// # Quick start
//
//	client, err := prepaid.NewClient(prepaid.Config{
//		BaseURL:     "https://api.example.com/3.0/",
//		Vendor:      "vendor", // the word in application/vnd.<vendor>+json
//		Environment: prepaid.EnvironmentTest,
//		Credentials: prepaid.Credentials{ClientID: id, ClientSecret: prepaid.NewSecret(secret)},
//	})
//	account, err := client.Accounts.Get(ctx, "EA52174568995001", prepaid.IncludePersonal)
//
// A [Client] is immutable and safe for concurrent use: make one per process. Each resource is a service on it.
// [ConfigFromEnv] reads the configuration from the environment, and [Client.Check] proves at startup that the service
// can be reached and takes the credentials. Package webhook is the receiving side of webhooks.
//
// # Money
//
// Every error of every call is a [*CallError]. One question decides what to do next:
//
//	switch prepaid.OutcomeOf(err) {
//	case prepaid.OutcomeApplied:      // it happened
//	case prepaid.OutcomeRejected:     // final: nothing moved, and the same request would be refused again
//	case prepaid.OutcomeNotProcessed: // nothing moved, for a passing reason: send the same params again, later
//	case prepaid.OutcomeUnknown:      // it may have moved: resolve
//	}
//
// Whether a call may be sent again is fixed per operation, not per HTTP method; each method's documentation says
// under Safety which class it is of:
//
//   - read: changes nothing, sent again after trouble;
//   - repeated: sets absolute values, sent again after trouble;
//   - keyed: carries a [RequestID], sent again with the same bytes after a pause, because the service answers a
//     finished request id from its cache for 30 days;
//   - never repeated: not sent again once it may have arrived.
//
// A call of any class is sent again when it certainly was not processed: no connection was made, 429, or 401 once,
// with a new token. Once one attempt may have been applied, no later refusal makes the outcome known again; only a
// success does.
//
// An unknown outcome is resolved in one of two ways. Make it so: send a keyed transfer again with the same params. Or
// look, which never proves absence: [AccountsService.FindMovement], [AccountsService.FindCreated], or reading back
// what was set.
//
// # Authentication
//
// The client gets its access token with the client-credentials grant, uses it until 10 minutes before its end (half
// of its life, for a short one), and renews it in the background while calls go on with the one they have. After a
// 401 the token is renewed once and the call sent again. [Config].TokenSource replaces all of this.
//
// # Rate limit
//
// The service allows 1,000 requests per 10 seconds and address. The built-in [Limiter] keeps to it without a single
// 429 from one process; several processes behind one address share it by [Config].RateShare. Money goes before other
// calls, and those before prefetched pages. A 429 pauses the whole client.
//
// # Errors
//
// errors.Is finds sentinels such as [ErrNotFound] and the service's own codes such as [CodeInvalidURI]; errors.As
// finds *[APIError], *[ValidationError] and the other typed causes. A request is checked before it is sent against
// every limit of the reference, all faults at once, each with its field and rule. No error, log record or trace holds
// a value that was sent or received: an [APIError] prints as status and code, and keeps the service's text in a field.
//
// # Paging
//
// Paged operations are iterators, iter.Seq2 of item and error, which read one page at a time or, with
// [Paging].Prefetch, some ahead and in order. Each has a ...Page twin that reads a single [Page].
//
// # Amounts and times
//
// An [Amount] is an exact decimal number of currency units, never a float. Times are time.Time, sent in UTC to the
// second; a birthday is a [Date], which stays the same day in every zone.
//
// # Secrets and personal data
//
// A [Secret] prints nowhere, JSON included. Types that hold personal data print which fields are set, in fmt and
// slog; their JSON is left as it is, because a queue between two services must not receive the mask as the name. Log
// such values one by one: a slice inside a JSON log is written as JSON.
//
// # Contexts
//
// A context ends a call, and may observe it ([WithCapture], [WithTrace]). It never changes what is sent. A wait that
// would outlast the deadline is not begun.
//
// # Observing
//
// [Config].Logger gets a record of each call and of each repeated attempt. A [Trace], for a client or for one context,
// sees every attempt, pause and token; a [Capture] keeps the last answer, for a field that this version does not know.
// Operations are named by method and path template, without ids, so that they suit metrics.
//
// # Testing
//
// Package prepaidtest answers all operations over HTTP and keeps balances, histories and hooks behind them. Its faults,
// such as an answer lost after the money moved, show what code does on a bad day, and its clock moves on demand. The
// examples of this page run on it.
package prepaid
