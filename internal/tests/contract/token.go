package contract

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
)

func tokenFixtures() []Case {
	// The expiry is a time; a lifetime between 59 and 60 minutes counts as an hour.
	token := fixtureOf("Token", func(ctx context.Context, client *prepaid.Client) (*oauth2.Token, error) {
		token, err := client.Token(ctx)
		if err != nil {
			return nil, err
		}
		life := time.Until(token.Expiry)
		if life > time.Hour || life < 59*time.Minute {
			return nil, errors.New("the expiry does not fit expires_in")
		}
		// Printing an oauth2.Token would show the access token, so the test compares a copy without it.
		if token.AccessToken != "canary-access-token-0001" {
			return nil, errors.New("another token")
		}
		return &oauth2.Token{TokenType: token.TokenType, ExpiresIn: token.ExpiresIn}, nil
	})
	want := &oauth2.Token{TokenType: "Bearer", ExpiresIn: 3600}
	return []Case{
		token.gives("200", want),
		token.gives("200-numbers-as-strings", want),
		token.refused("400-invalid_request", prepaid.CodeInvalidRequest, prepaid.ErrBadRequest, prepaid.OutcomeNotProcessed),
		token.refused("400-unsupported_grant_type", prepaid.CodeUnsupportedGrantType, prepaid.ErrBadRequest, prepaid.OutcomeNotProcessed),
		token.refused("400-invalid_client", prepaid.CodeInvalidClient, prepaid.ErrUnauthorized, prepaid.OutcomeNotProcessed),
		token.refused("401-invalid_client", prepaid.CodeInvalidClient, prepaid.ErrUnauthorized, prepaid.OutcomeNotProcessed),
		token.refused("429", exampleRateLimit, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed),
		token.refused("500", prepaid.CodeServerError, prepaid.ErrServer, prepaid.OutcomeNotProcessed),
	}
}

// concat joins the cases of several calls.
func concat(lists ...[]Case) []Case { return slices.Concat(lists...) }
