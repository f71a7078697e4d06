package prepaid

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/token"
)

// Credentials are the OAuth client credentials. ClientID is not the client_id of an account (see
// [SearchAccountsParams].ProgramClientID). The zero value is no credentials.
type Credentials struct {
	// ClientID is the OAuth client id.
	ClientID string `json:"client_id" yaml:"client_id"`
	// ClientSecret is the OAuth client secret. It never prints.
	ClientSecret Secret `json:"client_secret" yaml:"client_secret"`
}

// TokenSource supplies access tokens. Unlike oauth2.TokenSource it takes the caller's context and learns which
// token was refused. A nil one leaves the built-in token manager in place.
type TokenSource interface {
	// Token returns a token to use now. When rejected is not nil, the service has just answered 401 to it; returning
	// the same token again ends the call with that 401.
	Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error)
}

// TokenSourceFrom adapts an oauth2.TokenSource. It is asked once more after a 401; the same token again ends the
// call with [ErrUnauthorized]. A call that waits in source ends with its context, and leaves source to finish.
func TokenSourceFrom(source oauth2.TokenSource) TokenSource { return &foreignSource{source: source} }

type foreignSource struct{ source oauth2.TokenSource }

func (s *foreignSource) Token(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) {
	type result struct {
		token *oauth2.Token
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- result{err: errors.New("the token source panicked")}
			}
		}()
		current, err := s.source.Token()
		done <- result{current, err}
	}()
	select {
	case r := <-done:
		return r.token, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Token returns the access token that a call made now would use. Treat it as a secret.
//
// Errors: *[TokenError]. Safety: repeated.
//
// API: POST /token.
func (c *Client) Token(ctx context.Context) (*oauth2.Token, error) {
	if c.closed.Load() {
		return nil, &CallError{Operation: opToken.Name, Outcome: OutcomeNotProcessed, Err: ErrClosed}
	}
	current, err := c.tokens.Token(ctx, nil)
	if err == nil && current != nil && current.AccessToken != "" {
		return current, nil
	}
	if err == nil {
		err = errNoToken
	}
	if ended := ctx.Err(); ended != nil {
		err = ended
	} else if !errors.Is(err, ErrClosed) {
		err = tokenError(err)
	}
	return nil, &CallError{Operation: opToken.Name, Outcome: OutcomeNotProcessed, Err: err}
}

var opToken = operation{
	Operation: Operation{"Token", "POST", "/token"},
	class:     classToken, kind: answerJSON, success: []int{200}, lane: laneToken,
}

// fetchToken makes one POST /token, in as many attempts as Retry allows. It is the token manager's only way out.
func (c *core) fetchToken(ctx context.Context) (*oauth2.Token, error) {
	credentials := c.config.Credentials
	r := request{
		op:   opToken,
		form: "grant_type=client_credentials",
		// Plain, as the reference wants it: x/oauth2 would query-escape both first.
		basic: "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials.ClientID+":"+credentials.ClientSecret.Reveal())),
	}
	var answer struct {
		AccessToken string       `json:"access_token"`
		TokenType   string       `json:"token_type"`
		ExpiresIn   tokenSeconds `json:"expires_in"`
	}
	received := time.Now()
	err := c.do(ctx, &r, func(a *attempt) error {
		received = time.Now()
		if err := decodeJSON(a, &answer); err != nil {
			return err
		}
		// A token without a lifetime would never be renewed.
		if answer.AccessToken == "" || !strings.EqualFold(answer.TokenType, "bearer") || answer.ExpiresIn <= 0 {
			return a.undecodable(errMissingMember)
		}
		if !isHeaderText(answer.AccessToken) {
			return a.undecodable(errUnexpectedBody)
		}
		return nil
	})
	if err != nil {
		return nil, tokenError(err)
	}
	return &oauth2.Token{
		AccessToken: answer.AccessToken,
		TokenType:   "Bearer",
		ExpiresIn:   int64(answer.ExpiresIn),
		Expiry:      received.Add(time.Duration(answer.ExpiresIn) * time.Second),
	}, nil
}

// tokenSeconds is a token's lifetime in whole seconds. The reference has a number there: a fraction is cut off, and
// anything beyond token.MaxLife counts as that.
type tokenSeconds int64

// UnmarshalJSON reads a number, bare or in quotes. JSON null leaves s as it is.
func (s *tokenSeconds) UnmarshalJSON(data []byte) error {
	kind, text := jsonScalar(data)
	switch kind {
	case scalarNull:
		return nil
	case scalarOther:
		return errNotANumber
	}
	if _, err := scanDecimal(text, true); errors.Is(err, ErrAmountSyntax) {
		return errNotANumber
	}
	seconds, _ := strconv.ParseFloat(string(text), 64) // of JSON's grammar; too large is infinite
	*s = tokenSeconds(max(0, min(seconds, token.MaxLife.Seconds())))
	return nil
}

// tokenManager is the built-in TokenSource.
type tokenManager struct{ *token.Manager }

// newTokenManager returns a manager that fetches with c and reports to its log and traces.
func (c *core) newTokenManager() *tokenManager {
	return &tokenManager{token.NewManager(c.fetchToken, token.Options{
		Hold:   c.config.Retry.TokenHold,
		Logger: c.log,
		Renewed: func(took time.Duration, err error) {
			for _, t := range c.traces {
				if t.TokenRenewed != nil {
					c.guarded(func() { t.TokenRenewed(context.Background(), took, err) })
				}
			}
		},
		RejectedCredential: func(err error) bool { return errors.Is(err, ErrUnauthorized) },
	})}
}

// Token implements TokenSource.
func (m *tokenManager) Token(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) {
	current, err := m.Manager.Token(ctx, rejected)
	return current, closedAbove(err)
}

// Spare returns a token other than suspect.
func (m *tokenManager) Spare(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	spare, err := m.Manager.Spare(ctx, suspect)
	return spare, closedAbove(err)
}

// closedAbove returns the client's own error for that of a closed manager.
func closedAbove(err error) error {
	if errors.Is(err, token.ErrClosed) {
		return ErrClosed
	}
	return err
}
