// Package hostile tests a payment loop: it runs several copies of your worker against the emulator, injects
// failures, and compares every account with the orders.
//
// A worker is this program, which calls [Worker], or a command in any language. Each copy gets a list of payments and the settings of a
// client in its environment. The copy pays, and ends with status 0 when all outcomes are final. Meanwhile the harness
//
//   - kills copies (SIGKILL) while a request is in flight or just after its response was sent, and starts these copies again
//   - freezes copies (SIGSTOP) in the middle of a request until another copy takes over, and then lets requests of both run for long
//   - ends connections without a response, executes requests long after their connection has ended, and executes
//     repeats that overtake a request
//   - cuts the network between a process and the service, or freezes the service, often for longer than any wait
//   - responds with errors of the service and of gateways, throttles, and expires tokens
//   - calls your function that cuts the connections to a database
//
// With any seed, a correct worker makes each payment once. All failures are within the limits of the service's reference
// and the settings: a request ends within AttemptTimeout + InFlightWait of its start. If a cut network or a frozen service
// held a request, that request ends within InFlightWait after the service responds again.
//
// Faults, kills and cuts depend only on the seed, the payment and the number of its requests so far. But while a frozen copy recovers,
// kills and cuts wait for a later request. The interleaving of the copies' own steps is random.
//
// Everything is on loopback, with fictional data. Each copy has its own process group: when a run or its context ends, no copy is
// left. After a panic or kill -9 of the harness, the standard input of the copies ends: [Worker] then ends the context.
//
// The page docs/hostile.md has the environment of a worker and the meaning of a report.
package hostile
