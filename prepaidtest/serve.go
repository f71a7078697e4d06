package prepaidtest

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
)

// ServeHTTP responds to one request. The server calls it for requests to its own address; use it to mount the
// emulator in another server. Paths must keep the prefix /3.0/. A body of more than 4 MiB gets 413.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.activity.Enter() {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	defer s.activity.Leave()
	if s.settings.Page != nil && !strings.HasPrefix(r.URL.Path, exchange.Prefix+"/") {
		s.settings.Page.ServeHTTP(w, r)
		return
	}
	began := time.Now()
	s.service.Clock.Settle()
	c := &exchange.Call{Form: s.settings.form, Request: r, At: s.service.Clock.Now()}
	if !c.ReadBody(w) {
		return
	}
	c.Cached = s.service.Transfers.Cached()
	var pathKnown bool
	c.Route, c.Params, pathKnown = s.routes.Find(r)
	entry := s.arrived(c)
	response, fault := s.respond(c, &entry, pathKnown)
	response.At = s.service.Clock.Now()
	fault.RewriteHeader(&response)
	s.record(&entry, c, response, fault, time.Since(began)) // before the caller can look it up
	if fault.TakesOver() {
		fault.Send(w, response)
		return
	}
	response.Write(w)
}

// respond returns the response to a request. It checks in a gateway's order: address, size, expectations of the test,
// rate, path, token, fault, operation.
func (s *Server) respond(c *exchange.Call, entry *Request, pathKnown bool) (exchange.Response, *faults.Fault) {
	route := c.Route
	if !gate.Whitelist(s.settings.AllowedAddresses).Admits(clientAddress(c.Request)) {
		return c.Refuse(http.StatusForbidden, "forbidden", "the address is not on the whitelist"), nil
	}
	if c.TooLarge {
		return c.Refuse(http.StatusRequestEntityTooLarge, "invalid_request", "the body is too large"), nil
	}
	if unexpected := s.unexpected(c); unexpected != nil {
		return *unexpected, nil
	}
	if wait := s.rates.Exceeded(clientAddress(c.Request), c.At); wait > 0 {
		refusal := c.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "too many requests")
		if s.settings.RetryAfter {
			refusal.RetryAfter = exchange.WholeSeconds(wait)
		}
		return refusal, nil
	}
	switch {
	case route == nil && pathKnown:
		return c.Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "the path has no such method"), nil
	case route == nil:
		return c.Refuse(http.StatusNotFound, "not_found", "there is no such path"), nil
	case route.TestOnly() && s.settings.Production:
		return c.Refuse(http.StatusNotFound, "not_found", "the simulator is available in the test environment only"), nil
	}
	if !route.Open() {
		if refusal := s.service.Tokens.Authorise(c); refusal != nil {
			return *refusal, nil
		}
	}
	fault, number := s.faultOf(c)
	entry.Arrival = number
	if fault == nil {
		return s.carryOut(c), nil
	}
	switch fault.Kind {
	case faults.Delay:
		end := s.service.Transfers.Hold(c, fault.Wait)
		s.activity.Pause(fault.Wait, nil)
		end()
	case faults.ExpireToken:
		return s.service.Tokens.Expire(c), fault
	}
	response := fault.Respond(c)
	if response == nil {
		return s.carryOut(c), fault
	}
	if fault.Late {
		s.runOn(*c, fault.After)
	}
	return *response, fault
}

func (s *Server) carryOut(c *exchange.Call) exchange.Response {
	if refusal := c.ReadQuery(); refusal != nil {
		return *refusal
	}
	return c.Route.Handle(c)
}

// runOn carries a request out after d of real time, or at once when the server closes, and discards the
// response.
func (s *Server) runOn(c exchange.Call, d time.Duration) {
	c.Request = c.Request.WithContext(context.WithoutCancel(c.Request.Context()))
	counted := s.activity.Begin(1)
	end := s.service.Transfers.Hold(&c, d)
	s.activity.Run(func() {
		defer end()
		s.activity.Pause(d, nil)
		s.service.Clock.Settle()
		s.carryOut(&c)
		if counted {
			s.activity.End(1)
		}
	})
}

func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
