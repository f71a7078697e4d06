// Package privacy proves that no error, log, trace or printed value contains a secret or a personal value, after any
// failure. Each text of each exported type, each request and each response holds a canary that names its field; the tests
// look for canaries in everything that the client writes.
package privacy
