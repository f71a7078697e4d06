// Package recorder keeps the emulator's responses of a test run, for a comparison with its OpenAPI document.
//
// It exists with the build tag prepaidrecord only, and then records into the directory that PREPAID_RECORD names. A server writes
// its document and, when it is closed, one response of each shape together with the request. Injected faults and responses that a
// test has set are not the emulator's own, and are left out by the caller.
package recorder
