// Package kernel proves on a real link that a payment is made once, and that its request does not leave after the
// attempt has ended. In the tests, the link goes down while the request is unacknowledged, packets are lost in one
// direction, the service or the process is frozen, or the process is killed. The kernel resends data that a
// connection has not delivered, so no test on loopback or with a scripted transport can show this.
//
// Each test has a link between two network namespaces, with the bank of package bank at one end and a process of the test
// binary at the other; or two links, with a proxy between them, whose kernel resends too. The times of the client are
// scaled; see the flag -defaults.
package kernel
