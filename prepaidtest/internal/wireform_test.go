package internal_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// The OpenAPI document has the pattern, and the checks of requests use the function: both must agree.
func FuzzFormPatterns(f *testing.F) {
	forms := []wire.Form{
		wire.FourDigits(), wire.CurrencyNumber(), wire.BSB(), wire.OnlyDigits(), wire.Country2(), wire.Country3(), wire.Alphanumeric(), wire.PrintableASCII(), wire.NameOnCard(), wire.Hex(), wire.UUID(),
		wire.SequenceNumber(), wire.MonthYear(), wire.TokenReference(),
	}
	patterns := make([]*regexp.Regexp, len(forms))
	for i, form := range forms {
		patterns[i] = regexp.MustCompile(form.Pattern)
	}
	for _, text := range []string{
		"", "0742", "74", "036", "062000", "AU", "AUS", "au", "2000", "A-B/C. 9", "a~ ", "\x7f", "\n", "0742\n", "é", "0aF", "0aF1", "٣٣٣",
		"123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400", "123e4567+e89b-12d3-a456-426614174000",
		"000", "100", "0990", "01a", "1299", "1300", "\n000", strings.Repeat("x", 47), strings.Repeat("é", 48), strings.Repeat("\n", 48), strings.Repeat("x", 49),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) { // JSON cannot hold it
			return
		}
		for i, form := range forms {
			require.Equal(t, form.Holds(text), patterns[i].MatchString(text), "%s: %q", form.Rule, text)
		}
	})
}
