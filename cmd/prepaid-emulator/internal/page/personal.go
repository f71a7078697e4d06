package page

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
)

const (
	concealed = "[personal]" // replaces personal data, which only an account's page shows
	redacted  = "[REDACTED]" // replaces secrets in the log
)

// readable indents JSON, and redacts personal data and the query of a webhook's address, which may hold a secret. Other text
// stays unchanged, unless it may be truncated JSON with personal data: then a message replaces it.
func readable(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return problem
	}
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(shown), "", "  ") != nil {
		return shown
	}
	return indented.String()
}

// compact redacts JSON like the function readable, but does not indent it.
func compact(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return concealed
	}
	return shown
}

// open redacts personal members and changes nothing else, or returns the reason why it cannot redact them.
func open(text string) (shown, problem string) {
	hidden := false
	for name := range personal.Marks() {
		hidden = hidden || strings.Contains(text, `"`+name+`"`)
	}
	if !hidden {
		return text, ""
	}
	value, err := personal.Decode(text)
	if err != nil {
		return "", "It holds what is not shown here, and is too long to leave that out."
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(personal.Replace(value, conceal)) != nil {
		return "", concealed
	}
	return strings.TrimSuffix(plain.String(), "\n"), ""
}

func conceal(name string, member any) (any, bool) {
	address, isText := member.(string)
	switch {
	case personal.Hidden(name) && member != redacted: // not a secret that is masked already
		return concealed, true
	case personal.Marks()[name] == "user" && isText:
		return plain(address), true
	}
	return nil, false
}
