// Package privacy proves that no secret and no personal value shows in an error, a log, a trace or a printed value, whatever
// goes wrong. Each text of each exported type, each request and each response holds a canary that names its field; the tests
// look for canaries in everything that the client writes.
package privacy
