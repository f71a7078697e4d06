package harness

import (
	"fmt"
	"net/http"

	"github.com/cardprograms/prepaid"
)

const TokenPath = "/3.0/token"

// Split sends token requests to one script and everything else to another.
type Split struct{ Tokens, Calls *Script }

func (s Split) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == TokenPath {
		return s.Tokens.RoundTrip(r)
	}
	return s.Calls.RoundTrip(r)
}

func Grant(number int, lifetime string) Step {
	return Respond(200, VendorJSON, fmt.Sprintf(`{"access_token":"issued-%d","token_type":"bearer","expires_in":%s}`, number, lifetime))
}

// CredentialsConfig returns the settings of a client with the built-in token manager.
func CredentialsConfig(transport http.RoundTripper) prepaid.Config {
	config := ClockConfig(transport)
	config.Token = nil
	config.ClientID, config.ClientSecret = "partner", prepaid.NewSecret("s3cret")
	return config
}
