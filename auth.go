package prepaid

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/token"
)

// fetchToken calls POST /token, in as many attempts as Retry allows. This is the token manager's only call.
func (c *core) fetchToken(ctx context.Context) (*oauth2.Token, error) {
	described := request{
		op:      opToken,
		encoded: []byte("grant_type=client_credentials"),
		// ID and secret are unescaped, as the reference says: x/oauth2 would escape them.
		basic: "Basic " + base64.StdEncoding.EncodeToString([]byte(c.config.ClientID+":"+c.config.ClientSecret.Reveal())),
	}
	var granted struct {
		AccessToken string    `json:"access_token"`
		TokenType   string    `json:"token_type"`
		ExpiresIn   tokenLife `json:"expires_in"`
	}
	received := time.Now()
	err := c.do(ctx, &described, func(r *response) error {
		received = time.Now()
		if err := decodeJSON(r, &granted); err != nil {
			return err
		}
		switch {
		case granted.AccessToken == "":
			return r.undecodable(errMissingMember)
		case !strings.EqualFold(granted.TokenType, "bearer"):
			return r.undecodable(errTokenType)
		case granted.ExpiresIn <= 0: // the token would never be renewed
			return r.undecodable(errTokenLife)
		case !isHeaderText(granted.AccessToken):
			return r.undecodable(errUnexpectedBody)
		}
		return nil
	})
	if err != nil {
		return nil, tokenError(err)
	}
	return &oauth2.Token{
		AccessToken: granted.AccessToken,
		TokenType:   "Bearer",
		ExpiresIn:   int64(time.Duration(granted.ExpiresIn) / time.Second),
		Expiry:      received.Add(time.Duration(granted.ExpiresIn)),
	}, nil
}

var (
	errTokenType = errors.New("token_type is missing or not bearer")
	errTokenLife = errors.New("expires_in is missing or not above zero")
)

// tokenLife is a token's lifetime. The reference says a number of seconds, which may have a fraction. It is limited to
// token.MaxLife.
type tokenLife time.Duration

// UnmarshalJSON reads a number, bare or in quotes. JSON null leaves l as it is.
func (l *tokenLife) UnmarshalJSON(data []byte) error {
	kind, text := number.Scalar(data)
	switch kind {
	case number.Null:
		return nil
	case number.Other:
		return errNotANumber
	}
	if _, err := number.Parse(text, true); errors.Is(err, number.ErrSyntax) {
		return errNotANumber
	}
	seconds, _ := strconv.ParseFloat(string(text), 64) // the syntax was checked; if too large, it is +Inf
	*l = tokenLife(max(0, min(seconds, token.MaxLife.Seconds())) * float64(time.Second))
	return nil
}

// newTokenManager returns a manager that fetches tokens with c and reports to its log and traces.
func (c *core) newTokenManager() *token.Manager {
	return token.NewManager(c.fetchToken, token.Options{
		Hold:    c.config.Retry.TokenHold,
		Logger:  c.observer.log,
		Renewed: func(took time.Duration, err error) { c.observer.tokenRenewed(context.Background(), took, err) },
		RejectedCredential: func(err error) bool {
			return errors.Is(err, ErrUnauthorized) || errors.Is(err, exchange.ErrProxyCredentials)
		},
	})
}
