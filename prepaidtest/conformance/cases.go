package conformance

import (
	"reflect"
	"slices"
)

// Case is one check.
type Case struct {
	// Name begins with the section of the reference, such as "4.1/token_is_issued".
	Name string
	// Section is the part of Name before the slash.
	Section string
	// Operation is the checked operation: method and path template.
	Operation string
	// Needs names the fields of Target and Allow that the case requires. Without them, the case is skipped.
	Needs []string

	check func(*probe)
}

// Cases lists all checks in the order of Run. No check depends on another.
func Cases() []Case {
	cases := slices.Concat(
		tokenCases(), reportCases(), policyCases(), accountCases(), accountChangeCases(), walletCases(), transferCases(),
		fundingCases(), simulationCases(), pinCases(), hookCases(),
	)
	return slices.Concat(cases, authorisationCases(cases), limitCases())
}

// with makes a case.
func with(section, name, operation string, check func(*probe), needs ...string) Case {
	return Case{Name: section + "/" + name, Section: section, Operation: operation, Needs: needs, check: check}
}

// lacking returns the reason why c cannot run against t. It is empty if c can.
func (c *Case) lacking(t *Target) string {
	allow, settings := reflect.ValueOf(t.Allow), reflect.ValueOf(*t)
	for _, need := range c.Needs {
		if permission := allow.FieldByName(need); permission.IsValid() {
			if !permission.Bool() {
				return "Allow." + need + " is not set"
			}
		} else if settings.FieldByName(need).IsZero() {
			return "Target." + need + " is not set"
		}
	}
	return ""
}
