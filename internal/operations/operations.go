// Package operations has the operations of reference/openapi.yaml for this repository's programs and tests. The client has its own
// copy of the columns. The emulator uses only the safety classes, for its OpenAPI document. The package keeps no state.
package operations

// Operation is an operation. The document explains its extensions.
type Operation struct {
	// Method is the HTTP method; Path is the template.
	Method, Path string
	// Name is the Go name, such as "Accounts.Get".
	Name string
	// Success, Body, Safety, Lane, Also and Section are the extensions with these names; Success has the statuses.
	Success, Body, Safety, Lane, Also, Section string
	// Member is a member of the body. With the values in Never, separated by commas, the safety class is never.
	Member, Never string
	// Query, Request and Response have all members, separated by spaces; an inner member is after its object's name and a dot. Required
	// has the members that their object in the response requires.
	Query, Request, Response, Required string
}

// Class returns the columns that decide whether a request is repeated and how a response is read: safety, body and success.
func (o Operation) Class() string { return o.Safety + " " + o.Body + " " + o.Success }
