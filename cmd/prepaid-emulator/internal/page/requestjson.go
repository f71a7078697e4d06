package page

import (
	"regexp"
	"strings"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// membersOf are a JSON object's members; nil for any other text. Numbers stay as written.
func membersOf(text string) map[string]any {
	value, err := personal.Decode(text)
	members, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	return members
}

// transactionID returns the transaction ID in the response; empty if there is none.
func transactionID(r prepaidtest.Request) string {
	_, after, _ := strings.Cut(r.ResponseBody, `"transaction_id":`)
	after = strings.TrimLeft(after, ` "`)
	if id := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]; id != "0" {
		return id
	}
	return ""
}

// token is a part of a JSON text and its kind.
type token struct{ Kind, Text string }

// tokens splits an indented JSON text to highlight names. Any other text is one token.
func tokens(text string) []token {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return []token{{"", text}}
	}
	var list []token
	add := func(kind, part string) {
		if n := len(list); n > 0 && list[n-1].Kind == kind {
			list[n-1].Text += part
		} else if part != "" {
			list = append(list, token{kind, part})
		}
	}
	end := 0
	for _, at := range jsonString.FindAllStringIndex(text, -1) {
		add("", text[end:at[0]])
		end = at[1]
		kind := "text"
		if strings.HasPrefix(text[end:], ":") {
			kind = "name"
		}
		if masked := strings.Trim(text[at[0]:end], `"`); masked == redacted || masked == concealed {
			kind = "masked"
		}
		add(kind, text[at[0]:end])
	}
	add("", text[end:])
	return list
}

// jsonString matches a string in a JSON text. A last string without its end also matches.
var jsonString = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*["\\]?`)
