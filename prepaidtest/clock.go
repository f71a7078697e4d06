package prepaidtest

import "time"

// Now returns the time on the server's clock.
func (s *Server) Now() time.Time { return s.service.Clock.Now() }

// Advance moves the server's clock forward and carries out everything that is due: clearings, retries, alerts. Tokens,
// reports, one-time passwords and cached transfers expire by this clock. Each Advance makes at most one retry of a message,
// since the response to a retry decides about the next one. A negative d, or a time after the year 2200, fails the test.
func (s *Server) Advance(d time.Duration) {
	if !s.service.Clock.Advance(d) {
		s.fail("Advance: the clock moves forward only, and ends with the year 2200")
	}
}
