// Package operations lists the operations of reference/openapi.yaml as rows of texts, for this repository's programs and tests. The
// package keeps no state.
package operations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// All returns the operations in the order of the reference.
func All() []Operation {
	var all []Operation
	for _, o := range reference.Read().Operations {
		var also, never []string
		for _, status := range slices.Sorted(maps.Keys(o.Also)) {
			also = append(also, status+"="+o.Also[status])
		}
		row := Operation{
			Method: o.Method, Path: o.Path, Name: o.Name, Success: strings.Join(o.Success(), ","), Body: o.Body, Safety: o.Safety, Lane: o.Lane,
			Also: cmp.Or(strings.Join(also, ","), "-"), Section: o.Section,
		}
		for member, values := range o.Never {
			for _, value := range values {
				never = append(never, fmt.Sprint(value))
			}
			row.Member, row.Never = member, strings.Join(never, ",")
		}
		response, required := o.ResponseMembers()
		row.Query, row.Request = strings.Join(o.Names(), " "), strings.Join(o.RequestMembers(), " ")
		row.Response, row.Required = strings.Join(response, " "), strings.Join(required, " ")
		all = append(all, row)
	}
	return all
}

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
