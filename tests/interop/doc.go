// Package interop has the tests that need another implementation: of cryptography (OpenSSL, Node, Java, and Go's own in its FIPS 140-only mode,
// which is chosen when a program starts), of HTTP (nginx), or of OpenAPI (kin-openapi).
package interop
