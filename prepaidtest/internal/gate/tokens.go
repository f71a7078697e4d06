// Package gate admits or refuses callers, before any operation reads a request. It checks access tokens and the rate limit by
// client address.
//
// Tokens and RateLimiter keep their state under their own locks. None of them needs the ledger.
package gate

import (
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
)

// Tokens issues and checks access tokens.
type Tokens struct {
	ids  *ids.Source
	with TokenOptions

	mu     sync.RWMutex
	known  map[string]time.Time // expiry of each token
	writes int64
}

// TokenOptions are the credentials and the choices that the reference leaves open about tokens.
type TokenOptions struct {
	ClientID, ClientSecret string
	Lifetime               time.Duration
	UnauthorizedReport     bool // a request to start a report with a bad token gets 401, not 400
}

// NewTokens makes a store without tokens.
func NewTokens(from *ids.Source, with TokenOptions) *Tokens {
	return &Tokens{ids: from, with: with, known: make(map[string]time.Time)}
}

type tokenBody struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
}

// IssueToken handles POST /token (4.1).
func (s *Tokens) IssueToken(c *exchange.Call) exchange.Response {
	bad := func(code, description string) exchange.Response {
		return c.Refuse(http.StatusBadRequest, code, description)
	}
	if !c.Form.Lenient && !c.HasMediaType("application/x-www-form-urlencoded") {
		return bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
	}
	form, err := url.ParseQuery(string(c.Body))
	if err != nil {
		return bad("invalid_request", "the body is not a form")
	}
	if grants := form["grant_type"]; len(grants) != 1 || grants[0] == "" {
		return bad("invalid_request", "grant_type is required, once")
	}
	if !c.Form.Lenient && len(form) > 1 {
		return bad("invalid_request", "the body has parameters other than grant_type")
	}
	if form.Get("grant_type") != "client_credentials" {
		return bad("unsupported_grant_type", "grant_type must be client_credentials")
	}
	id, secret, ok := basicCredentials(c.Request.Header.Get("Authorization"))
	if !ok {
		return bad("invalid_client", "the client credentials are missing or incomplete")
	}
	same := subtle.ConstantTimeCompare([]byte(id), []byte(s.with.ClientID)) &
		subtle.ConstantTimeCompare([]byte(secret), []byte(s.with.ClientSecret))
	if same != 1 {
		return c.Refuse(http.StatusUnauthorized, "invalid_client", "the client credentials are incorrect")
	}
	text := s.ids.Hex(24)
	s.mu.Lock()
	s.writes++
	maps.DeleteFunc(s.known, func(_ string, expires time.Time) bool { return !c.At.Before(expires) })
	s.known[text] = c.At.Add(s.with.Lifetime)
	s.mu.Unlock()
	return c.JSON(http.StatusOK, tokenBody{AccessToken: text, TokenType: "bearer", ExpiresIn: int64(s.with.Lifetime / time.Second)})
}

// basicCredentials reads the RFC 2045 variant of Base64: standard alphabet, padded. It returns false if the id or the
// secret is missing.
func basicCredentials(header string) (id, secret string, ok bool) {
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(plain), ":")
	return id, secret, ok && id != "" && secret != ""
}

// Authorise checks the bearer token.
func (s *Tokens) Authorise(c *exchange.Call) *exchange.Response {
	scheme, text := c.Bearer()
	s.mu.RLock()
	expires := s.known[text] // zero for an unknown token
	s.mu.RUnlock()
	if strings.EqualFold(scheme, "bearer") && c.At.Before(expires) {
		return nil
	}
	return new(s.badToken(c))
}

func (s *Tokens) badToken(c *exchange.Call) exchange.Response {
	status := http.StatusUnauthorized
	if c.Route.Path == "/reporting/templates/{templatename}" && !s.with.UnauthorizedReport {
		status = http.StatusBadRequest
	}
	return c.Refuse(status, "unauthorized", "the access token is missing, invalid or expired")
}

// Revoke makes every access token issued so far invalid.
func (s *Tokens) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	clear(s.known)
}

// Expire makes the token of a request invalid and refuses the request.
func (s *Tokens) Expire(c *exchange.Call) exchange.Response {
	_, text := c.Bearer()
	s.mu.Lock()
	s.writes++
	delete(s.known, text)
	s.mu.Unlock()
	return s.badToken(c)
}

// Changes counts how often the tokens may have changed.
func (s *Tokens) Changes() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.writes
}

// Save returns the tokens with their expiry.
func (s *Tokens) Save() map[string]time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.known)
}

// Put makes a token valid until expires.
func (s *Tokens) Put(text string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	s.known[text] = expires
}
