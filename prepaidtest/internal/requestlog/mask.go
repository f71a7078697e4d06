// Package requestlog masks secrets in the log of requests: bodies, headers, query parameters, responses.
//
// The log shows the members of a request that the reference lists, except those that it marks as secret. A text that cannot be parsed is
// masked as a whole. The package keeps no state.
package requestlog

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Masked replaces a secret in the log.
const Masked = "[REDACTED]"

// maxLoggedBody limits the kept part of a request body.
const maxLoggedBody = 16 << 10

// MaxMaskedBody bounds the body that is read only to mask it.
const MaxMaskedBody = 256 << 10

// tokenForm is the body of a correct token request.
const tokenForm = "grant_type=client_credentials"

// Body returns the beginning of the body of a request, masked; route is nil for a path of no operation. A lenient server accepts members that
// the reference does not list: they are shown unless their name is that of a secret.
func Body(route *exchange.Route, body []byte, lenient bool) string {
	if len(body) == 0 || string(body) == tokenForm {
		return string(body)
	}
	if route == nil || route.Request.JSON() == nil || len(body) > MaxMaskedBody {
		return Masked
	}
	shown, err := maskMembers(route.Request.JSON(), wire.DecimalLoadAmount(body), lenient)
	switch {
	case err != nil:
		return Masked
	case shown == nil:
		shown = body
	}
	return string(shown[:min(len(shown), maxLoggedBody)])
}

// maskMembers masks the members of an object that are secret or that the schema does not have. Without any it returns nil.
func maskMembers(s *reference.Schema, body []byte, lenient bool) ([]byte, error) {
	var text bytes.Buffer
	m := masker{
		lenient: lenient,
		from:    jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true)),
		to:      jsontext.NewEncoder(&text, jsontext.AllowDuplicateNames(true)),
	}
	if m.from.PeekKind() != jsontext.KindBeginObject {
		return nil, errors.New("is not an object")
	}
	if err := m.value(s); err != nil {
		return nil, err
	}
	if _, err := m.from.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has text after the object")
	}
	if !m.hidden {
		return nil, nil
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

type masker struct {
	from    *jsontext.Decoder
	to      *jsontext.Encoder
	lenient bool
	hidden  bool
}

// value copies a value; s is nil for a member that the reference does not list.
func (m *masker) value(s *reference.Schema) error {
	if s == nil || s.Redact == "secret" {
		m.hidden = true
		return errors.Join(m.from.SkipValue(), m.to.WriteToken(jsontext.String(Masked)))
	}
	token, err := m.from.ReadToken()
	if err != nil {
		return err
	}
	kind := token.Kind()
	if kind == jsontext.KindString {
		shown := textWithout(token.String())
		m.hidden = m.hidden || shown != token.String()
		return m.to.WriteToken(jsontext.String(shown))
	}
	if err := m.to.WriteToken(token); err != nil || (kind != jsontext.KindBeginObject && kind != jsontext.KindBeginArray) {
		return err
	}
	for next := m.from.PeekKind(); next != jsontext.KindEndObject && next != jsontext.KindEndArray; next = m.from.PeekKind() {
		element := s.Items
		if kind == jsontext.KindBeginObject {
			name, err := m.from.ReadToken()
			if err != nil {
				return err
			}
			element = m.member(s, name.String())
			if err := m.to.WriteToken(name); err != nil {
				return err
			}
		}
		if err := m.value(element); err != nil {
			return err
		}
	}
	end, err := m.from.ReadToken()
	return errors.Join(err, m.to.WriteToken(end))
}

// member returns the schema of a member, nil for one that must be masked.
func (m *masker) member(s *reference.Schema, name string) *reference.Schema {
	listed, ok := s.Properties.Get(name)
	if !ok && m.lenient && !namedSecret().MatchString(name+":") {
		return new(reference.Schema)
	}
	return listed
}

// namedSecret finds a named secret within a text, as in "pin=1234", or JSON in JSON.
var namedSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(secret|token|pin|otp|cv[vc]|card[\s_-]*number|nonce|encrypted|passw|pass[\s_-]*phrase|pass[\s_-]*code|credential|api[\s_-]*key|private[\s_-]*key|jwt)[\w\s"'\\-]*[:=]`)
})

// textWithout masks a text that contains a named secret, and the user information of addresses.
func textWithout(text string) string {
	switch {
	case namedSecret().MatchString(text):
		return Masked
	case strings.Contains(text, "://"):
		return string(UserInfo([]byte(text), "/?#"))
	}
	return text
}

// UserInfo masks the user information of each address in text. User information and host have no character of ends.
func UserInfo(text []byte, ends string) []byte {
	var shown []byte
	for {
		before, rest, found := bytes.Cut(text, []byte("://"))
		if shown = append(shown, before...); !found {
			return shown
		}
		shown = append(shown, "://"...)
		end := len(rest)
		if i := bytes.IndexAny(rest, ends); i >= 0 {
			end = i
		}
		if at := bytes.LastIndexByte(rest[:end], '@'); at >= 0 {
			shown, rest = append(shown, Masked...), rest[at:]
		}
		text = rest
	}
}

// shownHeaders are the headers whose values the log shows.
func shownHeaders() []string {
	return []string{"Content-Type", "Content-Length", "Accept", "Accept-Encoding", "User-Agent", "Host", "Traceparent"}
}

// Header masks the values of all headers except shownHeaders; of Authorization it keeps the scheme.
func Header(header http.Header) http.Header {
	shown := make(http.Header, len(header))
	for name, values := range header {
		if slices.Contains(shownHeaders(), name) {
			shown[name] = slices.Clone(values)
			continue
		}
		hidden := make([]string, len(values))
		for i, value := range values {
			hidden[i] = Masked
			if name == "Authorization" {
				hidden[i] = maskAuthorization(value)
			}
		}
		shown[name] = hidden
	}
	return shown
}

func maskAuthorization(value string) string {
	for _, scheme := range []string{"Basic", "Bearer"} {
		if len(value) > len(scheme) && value[:len(scheme)+1] == scheme+" " {
			return scheme + " " + Masked
		}
	}
	return Masked
}

// Query shows the values of the operation's own parameters. None of them is a secret.
func Query(route *exchange.Route, values url.Values) url.Values {
	for name, given := range values {
		if route == nil || !slices.Contains(route.Names(), name) {
			for i := range given {
				given[i] = Masked
			}
		}
	}
	return values
}
