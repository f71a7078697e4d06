// Package hostile tests a payment loop: it runs several copies of your worker against the emulator, injects
// failures, and compares every account with the orders.
//
// A worker is a command in any language or a function of a Go test. Each copy gets a list of payments and the settings of a client
// in its environment. The copy pays, and ends with status 0 when all outcomes are final. Meanwhile the harness
//
//   - kills copies (SIGKILL) while a request is in flight or just after its response was sent, and starts these copies again
//   - freezes copies (SIGSTOP) in the middle of a request until another copy takes over, and then lets requests of both run for long
//   - ends connections without a response (FIN, RST or silence), executes requests long after their connection has ended, and executes
//     repeats that overtake a request
//   - cuts the network between a process and the service, or freezes the service, often for longer than any wait
//   - responds with errors of the service and of gateways, throttles, and expires tokens
//   - moves the emulator's clock forward, and cuts connections to a database
//
// With any seed, a correct worker makes each payment once. All failures are within the limits of the service's reference
// and the settings: a request ends within AttemptTimeout + InFlightWait of its start. If a cut network or a frozen service
// held a request, that request ends within InFlightWait after the service responds again.
//
// # A function
//
//	func TestMain(m *testing.M) {
//		hostile.Worker("payer", pay) // does not return in a process that a run has started
//		os.Exit(m.Run())
//	}
//
//	func TestHostile(t *testing.T) {
//		hostile.Test(t, hostile.Options{Worker: "payer"})
//	}
//
// # A command
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-hostile -- ./worker args
//
// # Environment of a copy
//
// The variables of [prepaid.ConfigFromEnv] give each copy its own address, credentials, and short times. Use these
// times, because the service of the run does. The other variables are
//
//   - PREPAID_HOSTILE_PAYMENTS: a file with one [Payment] per line, in JSON
//   - PREPAID_HOSTILE_DIR: a directory that all copies share, empty at the start, for a journal or a database file
//   - PREPAID_HOSTILE_DATABASE: the URL of the database, if the run has one, through a proxy that cuts connections
//   - PREPAID_HOSTILE_SUMMARY: an optional file, to which the copy writes one [Claim] per line, in JSON
//   - PREPAID_HOSTILE_WORKER: the number of the copy, from 1
//
// # Seeds
//
// Faults, kills and cuts depend only on the seed, the payment and the number of its requests so far. They do not depend on time, or on
// which copy is faster. But a freeze waits for a request after which its copy probably has more to send, and no copy that is frozen or
// takes over is disturbed: these actions come with a later request. The interleaving of the copies' own steps is random. If Options has no Seed, PREPAID_HOSTILE_SEED sets the seed.
//
// # Safety
//
// Everything is on loopback, with fictional data. Each copy has its own process group: when a run or its context ends, no copy is
// left. After a panic or kill -9 of the harness, children of a worker may still run.
package hostile
