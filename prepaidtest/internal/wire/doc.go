// Package wire has the formats of the service: JSON objects, amounts, date-times and pages. Struct tags describe the members of a stored
// object once: see Field. Faults collects every fault of an input by field and rule, never with the value.
//
// The package does not know the operations: the caller decides which member is required and which status a fault gets.
// The package keeps no state.
package wire
