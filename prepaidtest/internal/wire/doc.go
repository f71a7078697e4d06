// Package wire reads and writes the formats of the service: JSON objects, query parameters, amounts, date-times and pages.
//
// A Reader takes the members of a JSON object one by one, as package flag takes arguments: each line names a member once,
// says where its value goes and which limits it has. Every fault is collected by field and rule, never with the value. A
// Query does the same for query parameters. A Writer appends the members of an object without reflection. The tags of a stored
// object's struct describe its members once, for all of these: see Field.
//
// The package does not know the operations: which member is required, and which status a fault gets, is up to the caller.
// It keeps no state.
package wire
