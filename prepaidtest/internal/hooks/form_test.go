package hooks

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestPatternsSayWhatIsChecked(t *testing.T) {
	t.Parallel()
	texts := []string{"", "key-1", strings.Repeat("k", 64), strings.Repeat("k", 65), strings.Repeat("0aF", 22)[:64], strings.Repeat("0", 63), "k\n", "é"}
	for c := range 128 {
		texts = append(texts, string(rune(c)), strings.Repeat("0", 63)+string(rune(c)))
	}
	for _, form := range []wire.Form{keyID(), keySecret()} {
		held := 0
		for _, text := range texts {
			holds := form.Holds(text)
			require.Equal(t, holds, regexp.MustCompile(form.Pattern).MatchString(text), "%s: %q", form.Rule, text)
			if holds {
				held++
			}
		}
		require.Greater(t, held, 20)
	}
}
