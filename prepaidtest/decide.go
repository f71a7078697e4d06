package prepaidtest

import (
	"context"
	"sync"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// Arrival is a request that has arrived with a good token, before anything is done about it.
type Arrival struct {
	// Number counts the arrivals from 1. Request.Arrival of the log has it too.
	Number int64
	// Operation is named as in Operations.
	Operation string
	// AccountID is the EAID in the path or in the body; empty without one.
	AccountID prepaid.AccountID
	// Amount is the amount in the body, as it was written; empty without one.
	Amount string
	// RequestID is request_id of the body, cut at 100 characters; empty without one.
	RequestID prepaid.RequestID
	// Ordinal counts the arrivals of this operation from 1.
	Ordinal int
	// Sending counts the arrivals of this operation with this RequestID from 1; 0 without a RequestID.
	Sending int
}

// decider asks a function for the faults of requests.
type decider struct {
	mu       sync.Mutex // guards all below
	decide   func(context.Context, Arrival) Fault
	arrivals int64
	ordinals map[string]int
	sendings map[[2]string]int
}

// Decide makes f choose the fault of every request from now on that carries a good token, the token request itself included,
// so that faults depend on requests and not on timing: a function of seed, RequestID and Sending alone gives the same
// faults in each run, however many callers there are. Its fault takes precedence over armed ones, and is used for this
// request only, whatever Times, Always and WithProbability say; the zero Fault means none. A number out of its range fails
// the test, and so does ExpireToken for the token request; there is then no fault. Another call replaces f; nil removes it.
//
// f is called concurrently. The request waits for it, and is not running meanwhile: a repeat that f holds until the first
// request has ended gets the first one's response. Its context ends when the caller leaves, and
// is that of the request, so that a server which mounts ServeHTTP can add to it. Arrivals are counted only while there
// is a function, and counts are kept for good.
func (s *Server) Decide(f func(ctx context.Context, a Arrival) Fault) {
	s.decider.mu.Lock()
	defer s.decider.mu.Unlock()
	s.decider.decide = f
	if s.decider.ordinals == nil {
		s.decider.ordinals, s.decider.sendings = make(map[string]int), make(map[[2]string]int)
	}
}

// arrive counts a request, and returns the function to ask about it; nil without one.
func (d *decider) arrive(c *exchange.Call) (Arrival, func(context.Context, Arrival) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.decide == nil {
		return Arrival{}, nil
	}
	about := requestlog.SubjectOf(c)
	d.arrivals++
	a := Arrival{
		Number: d.arrivals, Operation: c.Route.Name(), AccountID: prepaid.AccountID(about.Account), Amount: about.Amount,
		RequestID: prepaid.RequestID(about.RequestID),
	}
	d.ordinals[a.Operation]++
	a.Ordinal = d.ordinals[a.Operation]
	if about.RequestID != "" {
		key := [2]string{a.Operation, about.RequestID}
		d.sendings[key]++
		a.Sending = d.sendings[key]
	}
	return a, d.decide
}

// faultOf returns the fault that a request takes, nil for none, and the number of its arrival.
func (s *Server) faultOf(c *exchange.Call) (*faults.Fault, int64) {
	a, decide := s.decider.arrive(c)
	if decide != nil {
		decided := decide(c.Request.Context(), a).fault
		decided.Schedule = faults.Schedule{}
		c.Cached = s.service.Transfers.Cached()
		err := decided.Check()
		switch {
		case err != nil:
			s.fail("Decide: %v", err)
		case decided.NeedsToken() && c.Route.Open:
			s.fail("Decide: ExpireToken is not for the token endpoint")
		case decided.Kind != faults.None:
			return &decided, a.Number
		}
	}
	return s.faults.Take(c.Route.Name(), func(f faults.Fault) bool { return !f.NeedsToken() || !c.Route.Open }), a.Number
}
