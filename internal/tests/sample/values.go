// Package sample makes requests and responses from the reference document, and converts them to the client's Go values and back. It uses
// the Go names of the document, not the client's struct tags: both are read independently.
package sample

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/internal/reference"
)

// Maker makes JSON values of schemas. Each text, number and time differs from those before it, so that no two members can be confused.
type Maker struct {
	Maximal  bool     // with all members, otherwise with the required ones
	Request  bool     // with the members that the client requires
	Query    []string // parameters of the query, on which members of a response depend
	numbered int
}

// clientRequires are the members of requests that the client requires and the document does not, by schema.
func clientRequires() map[string]string {
	const simulated = "transaction_type account_id amount" // nothing could be simulated
	return map[string]string{
		"Transfer": "request_id", "DirectEntryOut": "request_id", // a repeat would pay twice
		"CreateHook":  "uri scope filter_spec enabled reliability_mode hmac_key_id hmac_key_secret",               // the service's errors name each
		"InitiatePIN": "eaid device_id ip_address communication_method",                                           // unspecified: all or nothing
		"SealedPIN":   "device_id ip_address operation_id encrypted_data public_key_fingerprint encrypted_key iv", // the same
		"Simulate":    simulated, "SimulateAgain": simulated, "SimulateClearing": simulated,
	}
}

// Requires reports whether a request must have a member, by the document or by the client.
func Requires(s *reference.Schema, member string) bool {
	return s.Requires(member) || slices.Contains(strings.Fields(clientRequires()[s.Name]), member)
}

// has reports whether a value of s has a member.
func (m *Maker) has(s *reference.Schema, member string, of *reference.Schema) bool {
	switch {
	case of.Include != "" && !slices.Contains(m.Query, of.Include):
		return false
	case m.Maximal:
		return true
	case m.Request:
		return Requires(s, member)
	}
	return s.Requires(member) || s.Required == nil && len(of.Type) < 2
}

// Value makes a value of a schema: a bool, a json.Number, a string, a []any or a map[string]any.
func (m *Maker) Value(s *reference.Schema) any {
	m.numbered++
	switch {
	case len(s.Properties) > 0:
		object := map[string]any{}
		for _, member := range s.Properties {
			if m.has(s, member.Name, member.Value) {
				object[member.Name] = m.Value(member.Value)
			}
		}
		return object
	case s.Items != nil:
		return []any{m.Value(s.Items), m.Value(s.Items)}
	case len(s.Enum) > 0:
		return Plain(s.Enum[0])
	}
	switch s.Type[0] {
	case "boolean":
		return true
	case "integer":
		return json.Number(strconv.Itoa(1000 + m.numbered))
	case "number":
		if s.Name == "Amount" || s.Minimum != nil {
			return json.Number(fmt.Sprintf("%d.25", m.numbered))
		}
		return json.Number(strconv.Itoa(1000 + m.numbered))
	}
	return m.text(s)
}

// Plain returns a JSON value with its number as text.
func Plain(value any) any {
	if number, ok := value.(float64); ok {
		return json.Number(strconv.FormatFloat(number, 'f', -1, 64))
	}
	return value
}

func (m *Maker) text(s *reference.Schema) string {
	switch {
	case s.Format == "date-time":
		return time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, m.numbered).Format(time.RFC3339)
	case s.Format == "uuid":
		return fmt.Sprintf("%08x-89ab-4cde-8f01-23456789abcd", m.numbered)
	case s.Format == "email":
		return fmt.Sprintf("m%d@example.com", m.numbered)
	case s.Format == "uri":
		return fmt.Sprintf("https://h%d.example/", m.numbered)
	case s.Encoding == "base64":
		return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%032d", m.numbered))
	case s.Go == "Envelope.EncryptedData", s.Go == "Envelope.EncryptedKey": // whole blocks, and an RSA key of at least 2,048 bits
		return Matching(s, 512, m.numbered)
	case s.Pattern != "":
		return Matching(s, max(s.MinLength, min(16, maxLength(s))), m.numbered)
	}
	if s.Redact == "secret" { // an access token is a header
		return fmt.Sprintf("t%d", m.numbered)
	}
	return Text(fmt.Sprintf("é%d", m.numbered), s.MinLength)
}

// maxLength is the greatest length, which may be unlimited.
func maxLength(s *reference.Schema) int {
	if s.MaxLength == 0 {
		return 1 << 20
	}
	return s.MaxLength
}

// Text lengthens a text to a number of characters.
func Text(begin string, length int) string {
	return begin + strings.Repeat("Ж", max(0, length-utf8.RuneCountInString(begin)))
}

// Matching returns a text that matches the pattern of a schema. length is that of a pattern without one of its own, vary selects the
// characters.
func Matching(s *reference.Schema, length, vary int) string {
	parsed, err := syntax.Parse(s.Pattern, syntax.Perl)
	if err != nil {
		panic(err) // the document is wrong
	}
	g := generator{length: length, vary: vary}
	g.add(parsed)
	return g.text.String()
}

type generator struct {
	text         strings.Builder
	length, vary int
}

func (g *generator) add(r *syntax.Regexp) {
	switch r.Op {
	case syntax.OpLiteral:
		g.text.WriteString(string(r.Rune))
	case syntax.OpCharClass:
		g.vary++
		var all []rune
		for i := 0; i < len(r.Rune); i += 2 {
			for c := r.Rune[i]; c <= r.Rune[i+1]; c++ {
				all = append(all, c)
			}
		}
		g.text.WriteRune(all[g.vary%len(all)])
	case syntax.OpStar, syntax.OpPlus:
		for g.text.Len() < g.length {
			g.add(r.Sub[0])
		}
	case syntax.OpRepeat:
		for range r.Min {
			g.add(r.Sub[0])
		}
	case syntax.OpAlternate:
		g.add(r.Sub[0])
	default:
		for _, part := range r.Sub {
			g.add(part)
		}
	}
}
