package wire

import "net/mail"

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

// IsFourDigits reports whether a text has four digits, as types and categories have.
func IsFourDigits(text string) bool { return len(text) == 4 && IsDigits(text) }

// IsEmail reports whether a text has the form of an e-mail address.
func IsEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

// Letters checks for n capital letters.
func Letters(n int) func(string) bool {
	return func(text string) bool {
		for _, c := range []byte(text) {
			if c < 'A' || c > 'Z' {
				return false
			}
		}
		return len(text) == n
	}
}

// IsAlphanumeric reports whether a text has ASCII letters and digits only.
func IsAlphanumeric(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// IsPrintableASCII holds for 0x20 to 0x7E.
func IsPrintableASCII(text string) bool {
	for _, c := range []byte(text) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// IsNameOnCard reports whether a text can be printed on a card.
func IsNameOnCard(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '-' && c != '/' && c != '.' {
			return false
		}
	}
	return true
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
