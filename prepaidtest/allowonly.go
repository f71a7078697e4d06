package prepaidtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
)

// AllowOnly makes each later request fail the test unless its operation is in the list, named as in Operations. Such a
// request has no effect and gets 501 with the code unexpected_request. Fetching a token is always allowed. Another call
// replaces the list; a call without operations allows all. An unknown operation fails the test and changes nothing.
func (s *Server) AllowOnly(operations ...string) {
	if s.tb != nil {
		s.tb.Helper()
	}
	for _, operation := range operations {
		if !s.routes.Has(operation) {
			s.fail("AllowOnly: no operation has the given name; see Operations")
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = slices.Clone(operations)
}

// unexpected refuses operations that AllowOnly does not list.
func (s *Server) unexpected(c *exchange.Call) *exchange.Response {
	s.mu.Lock()
	allowed := s.allowed
	s.mu.Unlock()
	if len(allowed) == 0 {
		return nil
	}
	name := c.Request.Method + " with a path of no operation"
	if c.Route != nil {
		name = c.Route.Title()
		if name == service.TokenOperation || slices.Contains(allowed, name) {
			return nil
		}
	}
	s.fail("unexpected request: %s; allowed are %s", name, strings.Join(allowed, ", "))
	return new(c.Refuse(http.StatusNotImplemented, "unexpected_request", "the test does not allow this operation"))
}
