// Package wire reads and writes the formats of the service: JSON objects, query parameters, amounts, date-times and pages.
//
// A Reader takes the members of a JSON object one by one, as package flag takes arguments: each call names a member once, with its
// variable and its limits. A Reader collects every fault by field and rule, never with the value. A Query does the same for query
// parameters. A Writer appends the members of an object without reflection. Struct tags describe the members of a stored object once,
// for Reader, Writer and Schema: see Field.
//
// The package does not know the operations: the caller decides which member is required and which status a fault gets.
// The package keeps no state.
package wire
