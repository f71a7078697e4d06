// Package prepaid is a client for a REST service that manages stored-value card accounts: accounts, transfers, wallets
// and key exchange, program policy, reports, funding, a transaction simulator, PIN change and webhooks.
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
//	account, err := client.Accounts.Get(ctx, "EA52174568995001", prepaid.IncludeCardholder)
//
// A [Client] is immutable and safe for concurrent use: create one per process. Each resource is a service of the client.
// The comment of each method lists its errors, its safety class (Safety, see Retries) and the operation that it calls (API).
// Use [Client.Check] at startup to verify that the service is reachable and accepts the credentials.
//
// # Authentication
//
// The client obtains its access token with the client-credentials grant and renews it in the background 10 minutes before it
// expires, or halfway through a short lifetime. Calls continue with the old token meanwhile. After a 401 the client renews the
// token once and sends the call again. [Config].TokenSource replaces all this.
//
// # Money
//
// Every error of a call is a [*CallError]. Its outcome decides the next step:
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
// A rejected payment may succeed later with the same request ID, when the cause is gone (a balance, a 409). If you pay some
// other way instead, never send this request ID again. A payment that was not processed can be sent again unchanged, but not
// in a loop: wrong credentials and a closed client do not fix themselves.
//
// A client remembers its own unknown outcomes. A new process does not: store [CallError].LastSent with the payment while its
// outcome is unknown, and set it as LastSent in the params of the next call ([TransferParams], whose example is a store that
// survives restarts). Otherwise a refusal of the second call is reported as rejected although the first one moved the money.
//
// There are two ways to resolve an unknown outcome. Either send the keyed transfer again with the same params. Or look for the
// effect of the call: use [AccountsService.FindMovement] or [AccountsService.FindCreated], or read the changed data back.
// Finding nothing proves nothing. For payments in bulk, package journal keeps the records needed after a crash. Another run of
// the journal sends rejected payments again, too: first remove from the list the payments that you made some other way.
//
// # Retries
//
// The operation, not the HTTP method, decides whether a call may be sent again:
//
//   - read: changes nothing. Sent again after failures.
//   - repeated: fails safe if it arrives late (a block, a deletion). Sent again after failures.
//   - keyed: has a [RequestID]. Sent again with the same bytes, after a pause, if the exchange broke off or returned 502, 503
//     or 504: the service returns the cached response for a finished request ID for 30 days. A 500 ends the call at once
//     with [OutcomeUnknown].
//   - never repeated: not sent again once it may have arrived.
//
// A call of any class is sent again if it certainly was not processed: no connection was made, a 429, or one 401, after which
// the client gets a new token. Once an attempt may have been applied, the outcome stays unknown until a success or, for a keyed
// call, the service's own refusal of a later request ([ProvesNotApplied]). A keyed call is not sent again before
// [AccountsService.NotBefore]. [RetryPolicy] bounds attempts and pauses. The context bounds the whole call; a wait that would
// end after the context's deadline does not start. [Client.With] derives a client with other bounds that shares everything else.
//
// [Client.Do] makes a call for which there is no method; it is never repeated unless you declare otherwise.
//
// # Rate limit
//
// The service allows 1,000 requests per 10 seconds from each address. The built-in [Limiter] keeps one process within the
// limit, without a single 429. Several processes that share an address split the limit with [Config].RateShare. Payments go
// before other calls, and other calls before prefetched pages. A 429 pauses the whole client.
//
// # Paging
//
// Paged operations return iterators. They read one page at a time or, with [Paging].Prefetch, several ahead, in order:
//
//	for transaction, err := range client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{From: from}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(transaction.Amount)
//	}
//
// Each such operation also has a ...Page method that reads a single [Page]. [Collect] reads a limited number of items into a slice.
//
// # Errors
//
//	_, err := client.Accounts.Get(ctx, id)
//	switch invalid, ok := errors.AsType[*prepaid.ValidationError](err); {
//	case ok:
//		fmt.Println("fix", invalid.Faults) // each a field and a rule, never the value; nothing was sent
//	case errors.Is(err, prepaid.ErrNotFound):
//		fmt.Println("no such account")
//	}
//
// errors.Is finds sentinels such as [ErrNotFound] and the service's own codes such as [CodeInvalidURI]; errors.As and
// errors.AsType find *[APIError], *[ValidationError] and the other typed causes. The comment of a method lists the errors
// specific to it. In addition, every method may return *[ValidationError] before anything is sent; *[TokenError],
// *[TransportError], *[DecodeError], *[ratelimit.RefusedError]; [ErrBadRequest], [ErrUnauthorized], [ErrForbidden],
// [ErrRateLimited], [ErrServer], by status; [ErrClosed]; and the context's error.
//
// The text of an error or log record never contains personal data, amounts, references or the service's own text. Only
// [Config].ShowDescriptions adds that text, in the test environment. A correlation ID may appear. Everything else is in
// fields: an [APIError] prints as status and code and has the response's header and body in its fields; a [CallError] has
// account and request ID.
//
// # Amounts and times
//
//	price := prepaid.MustAmount("25.50")
//	total, err := price.Mul(3) // 76.50, or ErrAmountRange: never rounded
//	fmt.Println(total == prepaid.Cents(7650), err)
//
// An [Amount] is an exact decimal number of currency units, never a float. Times are time.Time, sent in UTC with a resolution
// of one second. A birthday is a [Date], which is the same day in every time zone.
//
// A value of an enumeration that the reference does not list is kept as received; its method Known returns false.
//
// # Secrets and personal data
//
// A [Secret] is never printed, not even in JSON. In fmt and slog, types that hold personal data or any content print only
// which fields are set. Their JSON is not redacted, because a queue between two services must receive the real data. Log
// such values one by one: a JSON log writes a slice as JSON.
//
// # Observing
//
// [Config].Logger receives one record per call and one per repeated attempt. A [Trace], for a client or one context, observes
// every attempt, pause and token. Its Response hook gets the last response, for fields that this version does not know.
// Operations are named by method and path template, without IDs, so that they can be used as metric labels. A context may
// add a Trace to a call; only Config.Propagate lets a context change a request.
//
// # Testing
//
//	srv, err := prepaidtest.Start(prepaidtest.Options{}) // in a test, prepaidtest.NewServer(t, prepaidtest.Options{})
//	if err != nil {
//		return err
//	}
//	defer srv.Close()
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
//	client := srv.Client()
//
// Package prepaidtest emulates all operations over HTTP, with balances, histories and hooks. It can inject faults, such as a
// response that is lost after the money moved, and its clock can be moved. The examples on this page run on it.
//
// # Related packages
//
// Package webhook receives webhooks. Package journal keeps a file from which a run of payments can be resumed.
package prepaid

//go:generate go run ./internal/wiregen -w

// Types that arrive in lists or in large numbers are read on the fast path, and payments are written without reflection. wiregen generates
// wire_gen.go from the tags of these types and of the structs in them. A type that needs more than its tags has
// hand-written methods.
var (
	_ = []wireReadable{
		(*Account)(nil), (*AccountSummary)(nil), (*plainCardholder)(nil), (*Transaction)(nil), (*transferResponse)(nil),
		(*WalletToken)(nil), (*walletDeviceMembers)(nil), (*Hook)(nil), (*messageEnvelope)(nil), (*MerchantCategory)(nil),
	}
	_ = []wireWritable{TransferParams{}, DirectEntryOutParams{}}
)
