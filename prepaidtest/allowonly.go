package prepaidtest

import (
	"net/http"
	"slices"
	"strings"
)

// AllowOnly makes every operation but these, named as in Operations, fail the test from now on: it is not carried
// out, and answered 501 with the code unexpected_request. Fetching a token is always allowed. Another call replaces
// the list, and one without operations lifts it. An unknown operation fails the test and changes nothing.
func (s *Server) AllowOnly(operations ...string) {
	if s.tb != nil {
		s.tb.Helper()
	}
	for _, operation := range operations {
		if !s.isOperation(operation) {
			s.fail("AllowOnly: no operation has the given name; see Operations")
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = slices.Clone(operations)
}

// unexpected refuses what AllowOnly does not allow.
func (s *Server) unexpected(c *call) *reply {
	s.mu.RLock()
	allowed := s.allowed
	s.mu.RUnlock()
	if len(allowed) == 0 {
		return nil
	}
	name := c.request.Method + " with a path of no operation"
	if c.route != nil {
		name = c.route.name()
		if name == tokenOperation || slices.Contains(allowed, name) {
			return nil
		}
	}
	s.fail("unexpected request: %s; allowed are %s", name, strings.Join(allowed, ", "))
	return new(c.refuse(http.StatusNotImplemented, "unexpected_request", "the test does not allow this operation"))
}
