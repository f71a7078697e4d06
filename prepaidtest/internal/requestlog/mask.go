// Package requestlog masks secrets in the log of requests: bodies, headers, query parameters, responses.
//
// It masks, at any depth, members that are secret according to the reference or their name. A text that cannot be
// parsed is masked as a whole. The package keeps no state.
package requestlog

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// Masked replaces a secret in the log.
const Masked = "[REDACTED]"

// maxLoggedBody limits the kept part of a request body.
const maxLoggedBody = 16 << 10

// MaxMaskedBody bounds the body that is read only to mask it.
const MaxMaskedBody = 256 << 10

// secretWords: a member is secret if its squeezed name contains one of these words.
func secretWords() []string {
	return []string{
		"secret", "ephemeralkey", "encrypteddata", "encryptedkey", "nonce", "certificate", // the reference's requests
		// A caller with a bug may send these in clear.
		"token", "pin", "otp", "passw", "passphrase", "passcode", "credential", "apikey", "privatekey", "jwt",
	}
}

// secretNames are complete squeezed names of secrets.
func secretNames() []string {
	return []string{"iv", "pan", "cardnumber", "cvv", "cvv2", "cvc", "cvc2", "auth", "authorization"}
}

// openNames are names that contain a secret word but do not mean a secret (2.9).
func openNames() []string {
	return []string{
		"tokenuniquereference", "tokenrequestorid", "tokenrequestorname", "tokentype", "tokensuffix", "tokenassurancelevel",
		"tokenactivateddatetime", "tokendeletedfromconsumerapp", "finaltokenizationdecision",
	}
}

// squeeze appends the letters (in lower case), the digits and the quotes of text. The result plain reports whether
// text is ASCII without escapes.
func squeeze(to, text []byte) (squeezed []byte, plain bool) {
	plain = true
	for _, b := range text {
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '"':
			to = append(to, b)
		case 'A' <= b && b <= 'Z':
			to = append(to, b+('a'-'A'))
		case b == '\\' || b >= 0x80:
			plain = false
		}
	}
	return to, plain
}

// suspicious reports whether a squeezed text may have a secret.
func suspicious(squeezed []byte) bool {
	return slices.ContainsFunc(secretWords(), func(word string) bool { return bytes.Contains(squeezed, []byte(word)) }) ||
		slices.ContainsFunc(secretNames(), func(name string) bool { return bytes.Contains(squeezed, []byte(`"`+name+`"`)) })
}

// isSecret reports whether a member with this name is secret. A name that is not ASCII is secret: the reference has none.
func isSecret(name string) bool {
	squeezed, _ := squeeze(nil, []byte(name))
	short := string(squeezed)
	if slices.Contains(openNames(), short) {
		return false
	}
	return strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) || slices.Contains(secretNames(), short) || hasSecretWord(short)
}

func hasSecretWord(short string) bool {
	return slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(short, word) })
}

// givesSecret reports whether a string contains a named secret, as in "pin=1234", or JSON in JSON.
func givesSecret(text string) bool {
	var name strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			name.WriteRune(r)
		case r == ':' || r == '=':
			if hasSecretWord(name.String()) {
				return true
			}
			name.Reset()
		case !strings.ContainsRune("_-\"'\\ \t\r\n", r):
			name.Reset()
		}
	}
	return false
}

// tokenForm is the body of a correct token request.
const tokenForm = "grant_type=client_credentials"

// Body returns the beginning of a body, masked. Only a JSON object can be masked in parts. The parameter readable
// means that the operation read a JSON object: most such bodies have no suspicious word and are not parsed again.
func Body(body []byte, readable bool) string {
	if len(body) == 0 || string(body) == tokenForm {
		return string(body)
	}
	squeezed, plain := squeeze(make([]byte, 0, 512), body)
	shown := body
	if !readable || !plain || suspicious(squeezed) || bytes.Contains(body, []byte("://")) {
		var err error
		if shown, err = maskMembers(wire.DecimalLoadAmount(body)); err != nil {
			return Masked
		}
	}
	return string(shown[:min(len(shown), maxLoggedBody)])
}

var errNotMaskable = errors.New("cannot be masked in parts")

// maskMembers masks the secret members of an object at any depth. It keeps the order and duplicate members. If there
// is no secret, it returns the body itself.
func maskMembers(body []byte) ([]byte, error) {
	if len(body) > MaxMaskedBody {
		return nil, errNotMaskable
	}
	var text bytes.Buffer
	from := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	to := jsontext.NewEncoder(&text, jsontext.AllowDuplicateNames(true))
	if from.PeekKind() != jsontext.KindBeginObject {
		return nil, errNotMaskable
	}
	hidden, ended := false, false
	for {
		inside, place := from.StackIndex(from.StackDepth())
		token, err := from.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || ended { // if it has ended, there is text after the object
			return nil, errNotMaskable
		}
		ended = from.StackDepth() == 0
		isText := token.Kind() == jsontext.KindString
		switch {
		case isText && inside == jsontext.KindBeginObject && place%2 == 0:
			secret := isSecret(token.String())
			if err = to.WriteToken(token); err == nil && secret {
				hidden = true
				err = errors.Join(from.SkipValue(), to.WriteToken(jsontext.String(Masked)))
			}
		case isText && givesSecret(token.String()):
			hidden = true
			err = to.WriteToken(jsontext.String(Masked))
		case isText && strings.Contains(token.String(), "://"):
			shown := UserInfo([]byte(token.String()), "/?#")
			hidden = hidden || string(shown) != token.String()
			err = to.WriteToken(jsontext.String(string(shown)))
		default:
			err = to.WriteToken(token)
		}
		if err != nil {
			return nil, errNotMaskable
		}
	}
	if !hidden {
		return body, nil
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
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
