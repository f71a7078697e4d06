// Package process proves that a process can be killed at any moment, and run again, without paying twice: the test binary
// runs itself as the process. The moments are those of requests at the emulator, not of a clock, so that a slow machine
// makes the tests longer and does not make them fail.
//
// The flags -payments and -kills make the tests longer.
package process
