// Package interop has the tests that need another implementation: of cryptography (OpenSSL, Node, and Go's own in its FIPS 140-only mode,
// which is chosen when a program starts), or of HTTP (nginx).
package interop
