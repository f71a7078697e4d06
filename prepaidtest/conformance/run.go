package conformance

import (
	"context"
	"net/http"
	"testing"
	"time"
)

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
	p := &probe{session: s, done: ctx.Done(), context: func() context.Context { return ctx }, section: c.Section, operation: c.Operation}
	c.check(p)
	if len(p.faults) > 0 {
		return result{faults: p.faults}
	}
	return result{skipped: p.skipped}
}
