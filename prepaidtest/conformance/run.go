package conformance

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"
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
	return slices.Concat(
		tokenCases(), readCases(), reportCases(), policyCases(), accountCases(), moneyCases(), simulationCases(), hookCases(),
		refusalCases(), unknownCases(), limitCases(),
	)
}

// with makes a case. The operation has its name in the document. The case needs the settings that its request has.
func with(section, name, operation string, changes values, check func(*probe), needs ...string) Case {
	r := newRequest(&Target{}, operation, changes)
	needs = slices.Concat(r.needs, needs)
	slices.Sort(needs)
	return Case{
		Name: section + "/" + name, Section: section, Operation: r.operation.Method + " " + r.operation.Path,
		Needs: slices.Compact(needs), check: check,
	}
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

// Run checks target with each case as a subtest, one after the other. If a case is not permitted or lacks a
// setting, it is skipped with the reason.
func Run(t *testing.T, target Target) {
	t.Helper()
	if err := target.validate(); err != nil {
		t.Fatal(err)
	}
	if target.HTTPClient == nil {
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8}
		target.HTTPClient = &http.Client{Transport: transport, Timeout: 30 * time.Second}
		defer transport.CloseIdleConnections()
	}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			faults, skipped := c.run(t.Context(), target)
			for _, fault := range faults {
				t.Error(fault.String())
			}
			if skipped != "" {
				t.Skip(skipped)
			}
		})
	}
}

// fault is one violation of the reference.
type fault struct{ section, operation, field, rule string }

func (f fault) String() string {
	return "section " + f.section + ", " + f.operation + ": " + f.field + ": " + f.rule
}

// run returns the violations, or the reason why the case did not run.
func (c *Case) run(ctx context.Context, target Target) (faults []fault, skipped string) {
	if why := c.lacking(&target); why != "" {
		return nil, why
	}
	target.SimulatorWait = cmp.Or(target.SimulatorWait, time.Minute)
	target.ReportWait = cmp.Or(target.ReportWait, 2*time.Second)
	p := &probe{target: target, context: func() context.Context { return ctx }, section: c.Section, operation: c.Operation}
	ended := make(chan struct{})
	go func() { // probe.stop ends it
		defer close(ended)
		c.check(p)
	}()
	<-ended
	return p.faults, p.skipped
}
