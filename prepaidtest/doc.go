// Package prepaidtest is a stateful emulator of the service: all operations over HTTP on loopback, with
// accounts, a ledger, policies, reports, PIN changes and webhooks. Point a client at it in a test,
// inject faults, and inspect the result:
//
//	srv := prepaidtest.NewServer(t)
//	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
//	client := srv.Client()
//
// AddAccount and similar build a state piece by piece; Load reads one from a JSON document. IDs have the client's types;
// amounts, statuses and codes are text in the reference's words.
//
// # Strictness
//
// Input that the reference does not allow is refused, with a description that names the field and never its value: a
// wrong Content-Type, an unknown or repeated member or query parameter, a wrong JSON type, a missing member, a
// value over a limit, a date-time of another form. The status is 400, and 404 only where the operation's row has it for
// that cause: input of a wallet, and the id of another account in a creation. Lenient switches this off.
//
// # Time
//
// Everything that takes time or expires follows the server's clock, which Advance moves. Due work is
// carried out before any request or inspection looks at the state.
//
// # Money
//
// Amounts are exact, with up to 19 digits. In the history credits are positive and debits negative, and the
// balance of an account is always the sum of its history. In addition to the transaction types that the reference names
// there are the emulator's own: 2951 card to card transfer, 2960 direct entry out, 3010 funding redemption, 3011
// its reversal, 3012 funding refund, 3900 adjustment by a test. Clearing an authorisation books its opposite (1117)
// and the clearing (1115); of a credit, the first is a debit.
//
// # Repeats
//
// The reference caches a transfer and a direct entry out that was handled successfully, and bounds in no way how long
// one takes. The emulator assumes the worst case: the cache is read when a request arrives and written when its movement
// is made. A request_id that arrives again while the first request is still running moves the money a second time. A
// request runs from its arrival to its movement: no time at all, unless the fault Delay or CommitAfter makes it longer.
// PaidTwice has the request ids to which this happened:
//
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.ProxyPage(502).CommitAfter(12*time.Second))
//
// # Faults
//
// Inject arms faults of requests by operation, count and probability, and InjectDelivery those of webhook messages:
//
//	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop(), prepaidtest.TooManyRequests(0).Times(3))
//	srv.Inject(prepaidtest.AnyOperation, prepaidtest.Respond(503, "").WithProbability(0.1))
//	srv.InjectDelivery("", prepaidtest.DuplicateMessage(1).Always())
//
// FaultForms and DeliveryFaultForms list the same in text, for ParseFault and ParseDeliveryFault. When a test fails,
// its log shows the last requests and deliveries (LogOnFailure). AllowOnly fails it on any operation it does not
// expect.
//
// # Restarts
//
// Save writes the whole state, work that waits for the clock included, WithState begins from it, and WithStateFile
// keeps it in a file, so that a shared emulator survives a restart:
//
//	srv, err := prepaidtest.Start(prepaidtest.WithStateFile("/var/lib/emulator/state.json"))
//
// The state holds every secret in plain text. The logs of requests and deliveries, rate limit windows, armed faults,
// functions and requests that still run are not in it.
//
// # Unspecified behaviour
//
// Each point that the reference leaves open is an Option with a documented default. The codes of errors that it does not show
// are invalid_request, account_not_found, policy_not_found, unsupported_provider, forbidden,
// unauthorized, duplicate_request, rate_limit_exceeded, unexpected_request (see AllowOnly), and for PIN changes
// invalid_envelope, invalid_operation, invalid_device and invalid_otp.
package prepaidtest
