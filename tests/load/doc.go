// Package load has the tests that need real time, many callers or a quiet machine: they put load on the client and on the
// emulator for seconds, or measure the cost of a call. A machine that is too slow to tell fails none of them.
package load
