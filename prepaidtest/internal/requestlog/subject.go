package requestlog

import (
	"encoding/json"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Subject is the subject of a request, for its row in a list. Its parts are unchecked input.
type Subject struct {
	Account   string // EAID
	Amount    string
	RequestID string
}

// maxSubject bounds each part of a subject: no ID in the reference is longer.
const maxSubject = 100

// SubjectOf reads the subject from path and body, before the operation runs.
func SubjectOf(c *exchange.Call) (about Subject) {
	if c.Route == nil {
		return about
	}
	if strings.HasPrefix(c.Route.Path, "/accounts/{id}") {
		about.Account = subjectText(c.Params[0])
	}
	if len(c.Body) == 0 || len(c.Body) > MaxMaskedBody || c.Body[0] != '{' {
		return about
	}
	members, err := wire.ParseObject(wire.DecimalLoadAmount(c.Body))
	if err != nil {
		return about
	}
	first := func(names ...string) string {
		for _, name := range names {
			if text := plainValue(members[name]); text != "" {
				return subjectText(text)
			}
		}
		return ""
	}
	if about.Account == "" {
		about.Account = first("account_id", "eaid")
	}
	about.Amount, about.RequestID = first("amount", "initial_load_amount"), first("request_id")
	return about
}

// plainValue is a string or number; empty for another value.
func plainValue(raw json.RawMessage) (text string) {
	switch {
	case len(raw) == 0 || strings.IndexByte("{[ntf", raw[0]) >= 0:
		return ""
	case raw[0] != '"':
		return string(raw)
	}
	_ = json.Unmarshal(raw, &text) // never fails: raw is a string
	return text
}

// subjectText masks and cuts the caller's text for a subject.
func subjectText(text string) string {
	text = textWithout(text)
	if runes := []rune(text); len(text) > maxSubject && len(runes) > maxSubject {
		return string(runes[:maxSubject])
	}
	return strings.Clone(text)
}
