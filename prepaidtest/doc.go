// Package prepaidtest is a stateful emulator of the service: all operations over HTTP on loopback, with
// accounts, a ledger, policies, reports, PIN changes and webhooks. Point a client at it in a test,
// inject faults, and inspect the result:
//
//	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
//	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
//	client := srv.Client()
//
// AddAccount and similar methods build a state piece by piece; Load reads a state from a JSON document. IDs have the
// client's types; amounts, statuses and codes are text as in the reference.
//
// # Strictness
//
// Input that the reference does not allow is refused, with a description that names the field and never its value: a wrong
// Content-Type, an unknown or repeated member or query parameter, a wrong JSON type, a missing member, a value over a limit, a
// date-time of another form. The status is 400, or 404 where the reference lists 404: for the input of a wallet, and for the id
// of an existing account in the request for a new account. The option Lenient switches this off.
//
// # Time
//
// Everything that takes time or expires follows the server's clock, which Advance moves. Due work is
// carried out before any request or inspection reads the state.
//
// # Money
//
// Amounts are exact, with up to 19 digits. In the history credits are positive and debits negative, and the balance of
// an account is always the sum of its history. In addition to the reference's transaction types, the emulator has its
// own: 2951 card to card transfer, 2960 direct entry out, 3010 funding redemption, 3011 its reversal, 3012 funding
// refund, 3900 adjustment by a test. The clearing of an authorisation is booked as two items: the opposite of the
// authorisation (1117: a credit after a debit, a debit after a credit) and the clearing (1115).
//
// # Repeats
//
// In the reference, the service caches a successful transfer or direct entry out, and a payment has no time limit.
// The emulator assumes the worst case: it reads the cache when a request arrives and writes the cache with the
// movement. If a request_id arrives again while the first request is running, the money moves a second time. A
// request runs from its arrival to its movement. This takes no time, unless the fault Delay or CommitAfter delays the
// movement. A load is cached like any transfer, unless Options.UncachedLoads is set. PaidTwice returns the request ids
// that were paid twice:
//
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.ProxyPage(502).CommitAfter(12*time.Second))
//
// # Faults
//
// Inject arms faults of requests by operation, count and probability. InjectDelivery arms faults of webhook messages:
//
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop(), prepaidtest.TooManyRequests(0).Times(3))
//	srv.Inject(prepaidtest.AnyOperation, prepaidtest.Respond(503, "").WithProbability(0.1))
//	srv.InjectDelivery("", prepaidtest.DuplicateMessage(1).Always())
//
// FaultForms and DeliveryFaultForms list the faults as text, for ParseFault and ParseDeliveryFault. When a test
// fails, its log shows the last requests and deliveries. AllowOnly lists the allowed operations: any
// other operation fails the test.
//
// # Restarts
//
// Save writes the whole state, including work that waits for the clock. Options.State begins from such a state, and
// Options.StateFile keeps the state in a file, so that a shared emulator survives a restart:
//
//	srv, err := prepaidtest.Start(prepaidtest.Options{StateFile: "/var/lib/emulator/state.json"})
//
// The state has all secrets in plain text. Logs of requests and deliveries, rate limit windows, armed faults,
// functions and running requests are not part of the state.
//
// # Unspecified behaviour
//
// Some points that the reference leaves open are fields of [Options]. If one of two readings is worse for a client, it is the default;
// Options.Kind chooses the kind ones. x-emulator in the document of [OpenAPI] marks the others. The emulator's own error codes are invalid_request, account_not_found, policy_not_found,
// not_found, method_not_allowed, unsupported_provider, forbidden, unauthorized, duplicate_request, report_processing,
// rate_limit_exceeded, unexpected_request (AllowOnly), invalid_envelope, invalid_operation, invalid_device and invalid_otp.
package prepaidtest
