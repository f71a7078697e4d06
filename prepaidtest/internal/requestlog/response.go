package requestlog

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// maxLoggedResponse bounds what is kept of an answer's body.
const maxLoggedResponse = 4 << 10

// secretAnswers are the members of any answer that hold a secret.
func secretAnswers() []string {
	return []string{
		"access_token", "issuer_initiated_digitization_data", "activation_data", "encrypted_pass_data", "ephemeral_public_key",
	}
}

// Response masks what is secret in a body; only few answers need to be read for it.
func Response(c *exchange.Call, answer exchange.Response) string {
	body := answer.Body
	if c.Route != nil && c.Route.Template == "/accounts/{id}/dip" && len(body) > 0 && body[0] != '{' {
		return Masked // the exchange data is the whole body
	}
	if bytes.Contains(body, []byte("://")) {
		body = UserInfo(body, `/?#"`)
	}
	shown := body[:min(len(body), maxLoggedResponse)]
	if answer.Pooled() { // the emulator's own pages hold none of these
		return string(shown)
	}
	if slices.ContainsFunc(secretAnswers(), func(name string) bool { return bytes.Contains(shown, []byte(name)) }) {
		members, err := wire.ParseObject(body)
		if err != nil || !hide(members, secretAnswers()) {
			return Masked // cannot be read, so it cannot be masked in parts
		}
		if body, err = json.Marshal(members); err != nil {
			return Masked
		}
	}
	return string(body[:min(len(body), maxLoggedResponse)])
}

// hide masks members and tells whether there were any.
func hide(members map[string]json.RawMessage, names []string) bool {
	hidden := false
	for _, name := range names {
		if _, present := members[name]; present {
			members[name], hidden = json.RawMessage(`"`+Masked+`"`), true
		}
	}
	return hidden
}
