package prepaidtest

import "time"

// Now returns the server's clock.
func (s *Server) Now() time.Time { return s.service.Clock.Now() }

// Advance moves the server's clock forward and carries out everything that is due: clearings, retries, alerts.
// Tokens, reports, one-time passwords and cached transfers expire by it. Retries take one step for each Advance,
// since the response to one decides about the next. It never moves back, and not beyond the year 2200: the test fails.
func (s *Server) Advance(d time.Duration) {
	if !s.service.Clock.Advance(d) {
		s.fail("Advance: the clock moves forward only, and ends with the year 2200")
	}
}
