// Package prepaid is a client for a REST service that manages stored-value card accounts: accounts, transfers, wallets
// and key exchange, program policy, reports, funding, a transaction simulator, PIN change and webhooks.
//
// # Quick start
//
//	config, err := prepaid.ConfigFromEnv() // PREPAID_BASE_URL and its like
//	if err != nil {
//		return err // all faults at once
//	}
//	client, err := prepaid.NewClient(config)
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	account, err := client.Accounts.Get(ctx, "EA52174568995001", prepaid.IncludePersonal)
//
// A [Client] is immutable and safe for concurrent use: make one per process. Each resource is a service on it, and each
// method says which errors it has, whether it is repeated (Safety), and which operation it calls (API). [Client.Check]
// proves at startup that the service can be reached and takes the credentials.
//
// # Authentication
//
// There is nothing to call. The client gets its access token with the client-credentials grant, uses it until 10 minutes
// before its end (half of its life, for a short one), and renews it in the background while calls go on with the one
// they have. After a 401 the token is renewed once and the call sent again. [Config].TokenSource replaces all of this,
// and [TokenSourceFrom] takes a source of package oauth2.
//
// # Money
//
// Every error of every call is a [*CallError], and one question decides what to do next:
//
//	_, err := client.Accounts.Transfer(ctx, source, params)
//	switch prepaid.OutcomeOf(err) {
//	case prepaid.OutcomeApplied:
//		fmt.Println("done")
//	case prepaid.OutcomeRejected:
//		fmt.Println("refused: nothing moved; fix the cause, or withdraw the payment")
//	case prepaid.OutcomeNotProcessed:
//		fmt.Println("nothing moved, and the request is not at fault: send the same params again once the cause is gone")
//	case prepaid.OutcomeUnknown:
//		fmt.Println("it may have moved: resolve")
//	}
//
// A rejected payment may succeed later under the same request id, when the cause goes away (a balance, a 409): whoever
// pays another way must never send this request id again. One that was not processed may go again as it is, but not in
// a loop: wrong credentials and a closed client do not pass by themselves.
//
// An unknown outcome is resolved in one of two ways. Make it so: send a keyed transfer again with the same params. Or
// look, which never proves absence: [AccountsService.FindMovement], [AccountsService.FindCreated], or reading back what
// was set. For payments in bulk, package journal keeps what must be known after a crash. There, too, a
// rejected payment is sent again when it is called again: take out of the list what was paid another way.
//
// # Retries
//
// Whether a call may be sent again is fixed per operation, not per HTTP method:
//
//   - read: changes nothing, sent again after trouble;
//   - repeated: fails safe when it arrives late (a block, a deletion), sent again after trouble;
//   - keyed: carries a [RequestID], sent again with the same bytes after a pause when it was cut off or met a 502, 503 or
//     504, because the service returns the cached response for a finished request id for 30 days. It is not sent again after a
//     500, which ends the call at once with [OutcomeUnknown];
//   - never repeated: not sent again once it may have arrived.
//
// A call of any class is sent again when it certainly was not processed: no connection was made, 429, or 401 once, with
// a new token. Once one attempt may have been applied, only a success makes the outcome known again, or for a keyed call
// the service's own refusal of a later sending ([SettlesDoubt]). A keyed call is not sent again before
// [AccountsService.NotBefore]. [RetryPolicy] bounds the attempts and the pauses. A context bounds the whole call, and a wait
// that would outlast its deadline is not begun.
//
// # Rate limit
//
// The service allows 1,000 requests per 10 seconds from each address. The built-in [Limiter] keeps to it without a single
// 429 from one process; several processes behind one address share it by [Config].RateShare. Money goes before other
// calls, and those before prefetched pages. A 429 pauses the whole client.
//
// # Paging
//
// Paged operations are iterators, which read one page at a time or, with [Paging].Prefetch, some ahead and in order:
//
//	for transaction, err := range client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{From: from}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(transaction.Amount)
//	}
//
// Each has a ...Page twin that reads a single [Page], and [Collect] reads a bounded number of items into a slice.
//
// # Errors
//
//	_, err := client.Accounts.Get(ctx, id)
//	switch invalid, ok := errors.AsType[*prepaid.ValidationError](err); {
//	case ok:
//		fmt.Println("mend", invalid.Faults) // each a field and a rule, never the value; nothing was sent
//	case errors.Is(err, prepaid.ErrNotFound):
//		fmt.Println("no such account")
//	}
//
// errors.Is finds sentinels such as [ErrNotFound] and the service's own codes such as [CodeInvalidURI]; errors.As and
// errors.AsType find *[APIError], *[ValidationError] and the other typed causes. A method's comment names the errors of
// its own. Beside them every method may return *[ValidationError] before anything is sent; *[TokenError],
// *[TransportError], *[DecodeError], *[ThrottledError]; [ErrBadRequest], [ErrUnauthorized], [ErrForbidden],
// [ErrRateLimited], [ErrServer] by the status that came; [ErrClosed]; and the context's error.
//
// What an error or a log record prints never holds personal data, amounts, references or the service's own text, unless
// [Config].ShowDescriptions adds that in the test environment; a correlation id may appear. The rest stays in fields: an
// [APIError] prints as status and code, and keeps the response's header and body in its fields, a [CallError] keeps account
// and request id.
//
// # Amounts and times
//
//	price := prepaid.MustAmount("25.50")
//	total, err := price.Mul(3) // 76.50, or ErrAmountRange: never rounded
//	fmt.Println(total == prepaid.Cents(7650), err)
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
// # Observing
//
// [Config].Logger gets a record of each call and of each repeated attempt. A [Trace], for a client or for one context,
// sees every attempt, pause and token; a [Capture] keeps the last answer, for a field that this version does not know.
// Operations are named by method and path template, without ids, so that they suit metrics. A context may observe a
// call, and never changes what is sent.
//
// # Testing
//
//	srv, err := prepaidtest.Start() // in a test, prepaidtest.NewServer(t)
//	if err != nil {
//		return err
//	}
//	defer srv.Close()
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
//	client := srv.Client()
//
// Package prepaidtest answers all operations over HTTP and keeps balances, histories and hooks behind them. Its faults,
// such as an answer lost after the money moved, show what code does on a bad day, and its clock moves on demand. The
// examples of this page run on it.
//
// # Beside the client
//
// Package webhook is the receiving side of webhooks, package journal a file from which a run of payments can be resumed.
package prepaid

//go:generate go run ./internal/wiregen -w

// What is read and written on the fast path of JSON: what arrives in lists or in large numbers, and payments. wire_gen.go is
// made for these types, and for the structs in them, from their tags. Types whose form is more than their
// members have a method of their own.
var (
	_ = []wireReadable{
		(*Account)(nil), (*AccountSummary)(nil), (*plainCardholder)(nil), (*Transaction)(nil), (*transferResponse)(nil),
		(*WalletToken)(nil), (*walletDeviceMembers)(nil), (*Hook)(nil), (*messageEnvelope)(nil), (*MerchantCategory)(nil),
	}
	_ = []wireWritable{TransferParams{}, DirectEntryOutParams{}}
)
