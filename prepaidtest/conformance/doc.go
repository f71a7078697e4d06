// Package conformance has black-box checks of a service against the reference. They use plain HTTP, and share no
// type with the client. They are the same for any base URL: the emulator in CI, or the real test environment, for
// which you need credentials.
//
// Each response is compared with the written reference (reference/openapi.yaml): status, headers, media type, members,
// values and error codes. The cases add the rules that span requests.
//
// With the zero Allow the suite sends only reads, and requests that must be refused. Permit effects in Allow. If
// a case is not permitted or lacks a setting, it is skipped with the reason. A violation names section, field and
// rule, never a received value. A violation in a response ends its case.
//
// The simulator's cases together wait for eleven times SimulatorWait: set -timeout=30m.
//
// The package's own tests run the suite against a real environment if PREPAID_CONFORMANCE_BASE_URL is set. The name of
// each variable is PREPAID_CONFORMANCE_ and the env tag of a field of Target, and PREPAID_CONFORMANCE_ALLOW lists names
// of fields of Allow, separated by commas.
package conformance
