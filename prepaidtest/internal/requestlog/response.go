package requestlog

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// maxLoggedResponse limits the kept part of a response's body.
const maxLoggedResponse = 16 << 10

// secretMembers are the members of any response that hold a secret.
var secretMembers = sync.OnceValue(func() []string {
	var names []string
	for _, o := range reference.Emulator().Operations {
		if response := o.Response(); response != nil {
			for _, member := range response.Properties {
				if member.Value.Redact == "secret" {
					names = append(names, member.Name)
				}
			}
		}
	}
	return names
})

// Response returns a body with masked secrets. It parses only the few bodies that may have one.
func Response(c *exchange.Call, response exchange.Response) string {
	body := response.Body
	switch {
	case c.Route == nil || len(body) == 0:
	case c.Route.Name == "Accounts.ExchangeKey" && body[0] != '{':
		return Masked // the exchange data is the whole body
	case c.Route.Name == "Reporting.Result" && response.Status == http.StatusOK:
		return "" // too long to be kept
	}
	if bytes.Contains(body, []byte("://")) {
		body = UserInfo(body, `/?#"`)
	}
	shown := body[:min(len(body), maxLoggedResponse)]
	if slices.ContainsFunc(secretMembers(), func(name string) bool { return bytes.Contains(shown, []byte(name)) }) {
		members, err := wire.ParseObject(body)
		if err != nil || !hide(members, secretMembers()) {
			return Masked // cannot be read, so it cannot be masked in parts
		}
		if body, err = json.Marshal(members); err != nil {
			return Masked
		}
	}
	return string(body[:min(len(body), maxLoggedResponse)])
}

// hide masks members and reports whether there were any.
func hide(members map[string]json.RawMessage, names []string) bool {
	hidden := false
	for _, name := range names {
		if _, present := members[name]; present {
			members[name], hidden = json.RawMessage(`"`+Masked+`"`), true
		}
	}
	return hidden
}
