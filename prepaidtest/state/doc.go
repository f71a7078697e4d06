// Package state has the data that the emulator keeps, with the values used on the wire: a test seeds them and inspects them, the
// operations change them, and a saved state contains them as JSON.
//
// Package prepaidtest uses these types under its own names, such as prepaidtest.Cardholder. The limits of requests and of seed documents
// are those of the reference; nothing checks a value that a test seeds from Go, unless a method of prepaidtest.Server says so.
package state
