package wire

import (
	"net/mail"
	"strings"
	"unicode/utf8"
)

// IsDigits reports whether a text has digits only, and at least one.
func IsDigits(text string) bool {
	if text == "" {
		return false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// IsEmail accepts one address without a name. The parser returns the local part without its quotes.
func IsEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address == text {
		return err == nil
	}
	at := strings.LastIndexByte(text, '@')
	return parsed.Name == "" && strings.HasPrefix(text, `"`) && strings.HasSuffix(text[:at], `"`) && strings.HasSuffix(parsed.Address, text[at:])
}

// IsUUID checks the 8-4-4-4-12 form.
func IsUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range []byte(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hexadecimal := (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')
		if dash != (c == '-') || (!dash && !hexadecimal) {
			return false
		}
	}
	return true
}

// IsTokenReference checks the length of token_unique_reference.
func IsTokenReference(text string) bool { return utf8.RuneCountInString(text) == 48 }
