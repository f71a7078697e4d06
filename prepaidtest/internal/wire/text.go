package wire

import (
	"net/mail"
	"strings"
	"time"
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

// IsFourDigits reports whether a text is four digits, like types and categories.
func IsFourDigits(text string) bool { return len(text) == 4 && IsDigits(text) }

// Form is a rule for texts: a check, its description, and its pattern or format in JSON Schema.
type Form struct {
	Holds   func(string) bool
	Rule    string
	Pattern string // for both ECMA 262 and Go; empty if there is no pattern
	Format  string
}

// FourDigits is the form of transaction types and merchant categories.
func FourDigits() Form {
	return Form{Holds: IsFourDigits, Rule: "must have four digits", Pattern: "^[0-9]{4}$"}
}

// CurrencyNumber is the form of a numeric currency code.
func CurrencyNumber() Form {
	return Form{Holds: isThreeDigits, Rule: "must be an ISO 4217 numeric code", Pattern: "^[0-9]{3}$"}
}

func isThreeDigits(text string) bool { return len(text) == 3 && IsDigits(text) }

// BSB is the form of a bank's branch number.
func BSB() Form { return Form{Holds: isBSB, Rule: "must have six digits", Pattern: "^[0-9]{6}$"} }

func isBSB(text string) bool { return len(text) == 6 && IsDigits(text) }

// OnlyDigits requires one digit or more.
func OnlyDigits() Form {
	return Form{Holds: IsDigits, Rule: "may have digits only", Pattern: "^[0-9]+$"}
}

// Email is the form of an e-mail address.
func Email() Form { return Form{Holds: IsEmail, Rule: "must be an e-mail address", Format: "email"} }

// IsEmail accepts one address without a name. The parser returns the local part without its quotes.
func IsEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address == text {
		return err == nil
	}
	at := strings.LastIndexByte(text, '@')
	return parsed.Name == "" && strings.HasPrefix(text, `"`) && strings.HasSuffix(text[:at], `"`) && strings.HasSuffix(parsed.Address, text[at:])
}

// Country2 is the form of a two-letter country code.
func Country2() Form {
	return Form{Holds: isTwoLetters, Rule: "must be an ISO 3166 alpha-2 code", Pattern: "^[A-Z]{2}$"}
}

// Country3 is the form of a three-letter country code.
func Country3() Form {
	return Form{Holds: isThreeLetters, Rule: "must be an ISO 3166 alpha-3 code", Pattern: "^[A-Z]{3}$"}
}

func isTwoLetters(text string) bool   { return len(text) == 2 && isCapitals(text) }
func isThreeLetters(text string) bool { return len(text) == 3 && isCapitals(text) }

func isCapitals(text string) bool {
	for _, c := range []byte(text) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// Alphanumeric allows ASCII letters and digits only.
func Alphanumeric() Form {
	return Form{Holds: isAlphanumeric, Rule: "must be alphanumeric", Pattern: "^[0-9A-Za-z]*$"}
}

func isAlphanumeric(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// PrintableASCII allows 0x20 to 0x7E.
func PrintableASCII() Form {
	return Form{Holds: isPrintableASCII, Rule: "must be ASCII from 0x20 to 0x7E", Pattern: "^[ -~]*$"}
}

func isPrintableASCII(text string) bool {
	for _, c := range []byte(text) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// NameOnCard allows text that can be printed on a card.
func NameOnCard() Form {
	return Form{Holds: isNameOnCard, Rule: "may have 0-9, A-Z, hyphen, slash and full stop", Pattern: "^[0-9A-Z./-]*$"}
}

func isNameOnCard(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '-' && c != '/' && c != '.' {
			return false
		}
	}
	return true
}

// SequenceNumber is the form of account_pan_sequence_number.
func SequenceNumber() Form {
	return Form{Holds: isSequenceNumber, Rule: "must be from 000 to 099", Pattern: "^0[0-9]{2}$"}
}

func isSequenceNumber(text string) bool { return isThreeDigits(text) && text[0] == '0' }

// MonthYear is the form of expiration_date.
func MonthYear() Form {
	return Form{Holds: isMonthYear, Rule: "must have the form mmyy", Pattern: "^(0[1-9]|1[0-2])[0-9]{2}$"}
}

func isMonthYear(text string) bool {
	_, err := time.Parse("0106", text)
	return err == nil
}

// TokenReference is the form of token_unique_reference.
func TokenReference() Form {
	return Form{Holds: IsTokenReference, Rule: "must have 48 characters", Pattern: `^[\s\S]{48}$`}
}

// IsTokenReference checks the length of token_unique_reference.
func IsTokenReference(text string) bool { return utf8.RuneCountInString(text) == 48 }

// Hex allows bytes in hex.
func Hex() Form { return Form{Holds: isHex, Rule: "must be hex", Pattern: "^([0-9A-Fa-f]{2})*$"} }

func isHex(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text)%2 == 0
}

// UUID is the 8-4-4-4-12 form.
func UUID() Form {
	return Form{
		Holds: IsUUID, Rule: "must be a UUID", Format: "uuid",
		Pattern: "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$",
	}
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
