// Package recorder keeps the emulator's responses of a test run, for a comparison with its OpenAPI document.
//
// It records only in a build with the tag prepaidrecord, into the directory that PREPAID_RECORD names. A server writes its document
// and, when it is closed, one response of each shape together with the request. Callers do not record injected faults or responses
// that a test has set, since these are not the emulator's own.
package recorder
