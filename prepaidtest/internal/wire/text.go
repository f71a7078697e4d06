package wire

import "net/mail"

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

func IsFourDigits(text string) bool { return len(text) == 4 && IsDigits(text) }

func IsEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

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
