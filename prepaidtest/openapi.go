package prepaidtest

import "github.com/cardprograms/prepaid/internal/reference"

// OpenAPI returns an OpenAPI 3.1 document of the service, in JSON. Generate clients in other languages from it; the reference remains the
// contract. Members named x-emulator describe the emulator's choices where the reference leaves a choice open.
//
// The server checks requests by this document.
func OpenAPI() []byte { return reference.Published() }
