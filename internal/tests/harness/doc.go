// Package harness is shared by the black-box suites: an operation of each safety class, clients with short pauses, a raw server
// for faults of the wire, a scripted transport for tests on a fake clock, and valid parameters of each operation.
package harness
