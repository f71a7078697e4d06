package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
)

// AccessToken is an access token that can be used, without its text.
type AccessToken struct {
	// IssuedAt is the server's clock; zero for a token that came with a saved state.
	IssuedAt time.Time
	// ExpiresAt is the server's clock.
	ExpiresAt time.Time
	// Requests counts the requests that were accepted with it, since it was issued or the server was started.
	Requests int
}

// AccessTokens returns the tokens that are neither expired nor revoked, the one that expires first first. A client that
// keeps its token has one, and two around a renewal.
func (s *Server) AccessTokens() []AccessToken {
	return each(s.service.Tokens.Valid(s.service.Clock.Now()), func(t gate.Token) AccessToken { return AccessToken(t) })
}

// RevokeTokens makes every access token issued so far invalid, as if all had expired.
func (s *Server) RevokeTokens() { s.service.Tokens.Revoke() }

// RateWindow is how much of the rate limit a client address has used (section 8).
type RateWindow struct {
	// Address is the client's, without the port.
	Address string
	// Used counts the requests that were let through in the window, at most Limit.
	Used int
	// Limit is that of RateLimit.
	Limit int
	// EndsAt is when the window ends, on the server's clock; not after Now when none is open.
	EndsAt time.Time
	// Refused counts the requests of all windows that got 429 because the limit was reached. Those of the fault
	// TooManyRequests do not count.
	Refused int
}

// RateWindows returns the window of each client address that has called, by address. There is none with NoRateLimit.
func (s *Server) RateWindows() []RateWindow {
	return each(s.rates.Windows(s.service.Clock.Now()), func(w gate.Window) RateWindow { return RateWindow(w) })
}
