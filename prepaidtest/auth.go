package prepaidtest

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type tokenBody struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
}

// issueToken answers POST /token (4.1).
func (s *Server) issueToken(c *call) reply {
	bad := func(code, description string) reply { return c.refuse(http.StatusBadRequest, code, description) }
	if !s.settings.lenient && !c.hasMediaType("application/x-www-form-urlencoded") {
		return bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded")
	}
	form, err := url.ParseQuery(string(c.body))
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
	id, secret, ok := basicCredentials(c.request.Header.Get("Authorization"))
	if !ok {
		return bad("invalid_client", "the client credentials are missing or incomplete")
	}
	same := subtle.ConstantTimeCompare([]byte(id), []byte(s.settings.clientID)) &
		subtle.ConstantTimeCompare([]byte(secret), []byte(s.settings.clientSecret))
	if same != 1 {
		return c.refuse(http.StatusUnauthorized, "invalid_client", "the client credentials are incorrect")
	}
	token := s.ids.hex(24)
	s.mu.Lock()
	for old, expires := range s.tokens {
		if !c.at.Before(expires) {
			delete(s.tokens, old)
		}
	}
	s.tokens[token] = c.at.Add(s.settings.tokenLifetime)
	s.mu.Unlock()
	return c.json(http.StatusOK, tokenBody{AccessToken: token, TokenType: "bearer", ExpiresIn: int64(s.settings.tokenLifetime / time.Second)})
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
func (s *Server) authorise(c *call) *reply {
	scheme, token := c.bearer()
	s.mu.RLock()
	expires := s.tokens[token] // long ago for an unknown one
	s.mu.RUnlock()
	if strings.EqualFold(scheme, "bearer") && c.at.Before(expires) {
		return nil
	}
	return new(c.badToken())
}

// bearer splits the Authorization header.
func (c *call) bearer() (scheme, token string) {
	scheme, token, _ = strings.Cut(c.request.Header.Get("Authorization"), " ")
	return scheme, token
}

func (c *call) badToken() reply {
	status := http.StatusUnauthorized
	if c.route.template == "/reporting/templates/{templatename}" {
		status = c.server.settings.badTokenOnReport
	}
	return c.refuse(status, "unauthorized", "the access token is missing, invalid or expired")
}

// RevokeTokens makes every access token issued so far invalid, as if all had expired.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}
