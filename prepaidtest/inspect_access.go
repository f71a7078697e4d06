package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
)

// AccessToken is a valid access token, without its text.
type AccessToken struct {
	// IssuedAt is a time on the server's clock; zero for a token of a saved state.
	IssuedAt time.Time
	// ExpiresAt is a time on the server's clock.
	ExpiresAt time.Time
	// Requests counts accepted requests with the token since its issue or the server's start.
	Requests int
}

// AccessTokens returns the tokens that are neither expired nor revoked, sorted by expiry. A client that keeps its
// token has one token, or two around a renewal.
func (s *Server) AccessTokens() []AccessToken {
	return each(s.service.Tokens.Valid(s.service.Clock.Now()), func(t gate.Token) AccessToken { return AccessToken(t) })
}

// RevokeTokens makes every access token issued so far invalid, as if all had expired.
func (s *Server) RevokeTokens() { s.service.Tokens.Revoke() }

// RateWindow is how much of the rate limit a client address has used (section 8).
type RateWindow struct {
	// Address is the client's address without the port.
	Address string
	// Used counts the requests admitted in the window, at most Limit.
	Used int
	// Limit is the limit set by RateLimit.
	Limit int
	// EndsAt is the end of the window on the server's clock. If no window is open, EndsAt is not after Now.
	EndsAt time.Time
	// Refused counts the requests of all windows that got 429 because the limit was reached. The fault
	// TooManyRequests does not count.
	Refused int
}

// RateWindows returns the window of each client address that has called, sorted by address. Without a rate limit there are none.
func (s *Server) RateWindows() []RateWindow {
	return each(s.rates.Windows(s.service.Clock.Now()), func(w gate.Window) RateWindow { return RateWindow(w) })
}
