package prepaidtest

import (
	"context"
	"sync"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// Arrival is a request that has arrived with a valid token and is not handled yet.
type Arrival struct {
	// Number counts the arrivals from 1. It is Request.Arrival in the log.
	Number int64
	// Operation is one of Operations.
	Operation string
	// AccountID is the EAID in the path or in the body; empty without one.
	AccountID prepaid.AccountID
	// Amount is the amount in the body, as written; empty without one.
	Amount string
	// RequestID is request_id of the body, cut at 100 characters; empty without one.
	RequestID prepaid.RequestID
	// Ordinal counts the arrivals of this operation from 1.
	Ordinal int
	// Sending counts the arrivals of this operation with this RequestID from 1; 0 without a RequestID.
	Sending int
}

// decider gets the faults of requests from a function.
type decider struct {
	mu       sync.Mutex // guards all below
	decide   func(context.Context, Arrival) Fault
	arrivals int64
	ordinals map[string]int
	sendings map[[2]string]int
}

// Decide makes f choose the fault of each later token request, and of each later request with a valid token. Faults then depend
// on requests and not on timing: if f uses only a seed, RequestID and Sending, the faults are the same in each run, with any
// number of callers. The chosen fault takes precedence over armed faults. It applies to one request only: Times, Always and
// WithProbability have no effect. If f returns the zero Fault, the request can take an armed fault. A fault with a number out of
// range, and ExpireToken for a token request, fail the test and have no effect. Another call replaces f; nil removes f.
//
// f is called concurrently. The request waits for f and does not run meanwhile: if f holds a repeat until the first
// request has ended, the repeat gets the response of the first. ctx is the context of the request, and ends when the caller
// disconnects. A server that mounts ServeHTTP can add values to ctx. Arrivals are counted only while there is a function,
// and counts are never reset.
func (s *Server) Decide(f func(ctx context.Context, a Arrival) Fault) {
	s.decider.mu.Lock()
	defer s.decider.mu.Unlock()
	s.decider.decide = f
	if s.decider.ordinals == nil {
		s.decider.ordinals, s.decider.sendings = make(map[string]int), make(map[[2]string]int)
	}
}

// arrive counts a request, and returns the function to call; nil without one.
func (d *decider) arrive(c *exchange.Call) (Arrival, func(context.Context, Arrival) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.decide == nil {
		return Arrival{}, nil
	}
	about := requestlog.SubjectOf(c)
	d.arrivals++
	a := Arrival{
		Number: d.arrivals, Operation: c.Route.Title(), AccountID: prepaid.AccountID(about.Account), Amount: about.Amount,
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

// faultOf returns the fault of a request, nil for none, and the number of its arrival.
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
		case decided.NeedsToken() && c.Route.Open():
			s.fail("Decide: ExpireToken is not for the token endpoint")
		case decided.Kind != faults.None:
			return &decided, a.Number
		}
	}
	return s.faults.Take(c.Route.Title(), func(f faults.Fault) bool { return !f.NeedsToken() || !c.Route.Open() }), a.Number
}
