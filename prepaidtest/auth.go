package prepaidtest

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

type tokenBody struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
}

// issueToken answers POST /token (4.1).
func (s *Server) issueToken(c *exchange.Call) exchange.Response {
	bad := func(code, description string) exchange.Response {
		return c.Refuse(http.StatusBadRequest, code, description)
	}
	if !s.settings.lenient && !c.HasMediaType("application/x-www-form-urlencoded") {
		return bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
	}
	form, err := url.ParseQuery(string(c.Body))
	if err != nil {
		return bad("invalid_request", "the body is not a form")
	}
	if grants := form["grant_type"]; len(grants) != 1 || grants[0] == "" {
		return bad("invalid_request", "grant_type is required, once")
	}
	if !s.settings.lenient && len(form) > 1 {
		return bad("invalid_request", "the body has parameters other than grant_type")
	}
	if form.Get("grant_type") != "client_credentials" {
		return bad("unsupported_grant_type", "grant_type must be client_credentials")
	}
	id, secret, ok := basicCredentials(c.Request.Header.Get("Authorization"))
	if !ok {
		return bad("invalid_client", "the client credentials are missing or incomplete")
	}
	same := subtle.ConstantTimeCompare([]byte(id), []byte(s.settings.clientID)) &
		subtle.ConstantTimeCompare([]byte(secret), []byte(s.settings.clientSecret))
	if same != 1 {
		return c.Refuse(http.StatusUnauthorized, "invalid_client", "the client credentials are incorrect")
	}
	token := s.ids.Hex(24)
	s.mu.Lock()
	for old, expires := range s.tokens {
		if !c.At.Before(expires) {
			delete(s.tokens, old)
		}
	}
	s.tokens[token] = c.At.Add(s.settings.tokenLifetime)
	s.mu.Unlock()
	return c.JSON(http.StatusOK, tokenBody{AccessToken: token, TokenType: "bearer", ExpiresIn: int64(s.settings.tokenLifetime / time.Second)})
}

// basicCredentials reads the RFC 2045 variant of Base64: standard alphabet, padded. It reports false when either
// part is missing.
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

// authorise checks the bearer token.
func (s *Server) authorise(c *exchange.Call) *exchange.Response {
	scheme, token := c.Bearer()
	s.mu.RLock()
	expires := s.tokens[token] // long ago for an unknown one
	s.mu.RUnlock()
	if strings.EqualFold(scheme, "bearer") && c.At.Before(expires) {
		return nil
	}
	return new(s.badToken(c))
}

func (s *Server) badToken(c *exchange.Call) exchange.Response {
	status := http.StatusUnauthorized
	if c.Route.Template == "/reporting/templates/{templatename}" {
		status = s.settings.badTokenOnReport
	}
	return c.Refuse(status, "unauthorized", "the access token is missing, invalid or expired")
}

// RevokeTokens makes every access token issued so far invalid, as if all had expired.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}
