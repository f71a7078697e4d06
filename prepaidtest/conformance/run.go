package conformance

import (
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
	s, done := newSession(target)
	defer done()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			r := s.run(t.Context(), c)
			for _, fault := range r.faults {
				t.Error(fault.String())
			}
			if r.skipped != "" {
				t.Skip(r.skipped)
			}
		})
	}
}

// fault is one violation of the reference.
type fault struct{ section, operation, field, rule string }

func (f fault) String() string {
	return "section " + f.section + ", " + f.operation + ": " + f.field + ": " + f.rule
}

// result is the result of a case.
type result struct {
	skipped string
	faults  []fault
}

// session is the client and the token of a run.
type session struct {
	target Target
	client *http.Client
	token  string
}

func newSession(target Target) (s *session, done func()) {
	if target.SimulatorWait == 0 {
		target.SimulatorWait = time.Minute
	}
	if target.ReportWait == 0 {
		target.ReportWait = 2 * time.Second
	}
	s = &session{target: target, client: target.HTTPClient}
	if s.client != nil {
		return s, func() {}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8}
	s.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	return s, transport.CloseIdleConnections
}

func (s *session) run(ctx context.Context, c Case) result {
	if why := c.lacking(&s.target); why != "" {
		return result{skipped: why}
	}
	p := &probe{session: s, context: func() context.Context { return ctx }, section: c.Section, operation: c.Operation}
	ended := make(chan struct{})
	go func() { // probe.stop ends it
		defer close(ended)
		c.check(p)
	}()
	<-ended
	if len(p.faults) > 0 {
		return result{faults: p.faults}
	}
	return result{skipped: p.skipped}
}
