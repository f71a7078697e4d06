package ledger

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestPatternsSayWhatIsChecked(t *testing.T) {
	t.Parallel()
	for _, form := range []wire.Form{SequenceNumber(), MonthYear(), TokenReference()} {
		held := 0
		for _, text := range []string{
			"", "000", "099", "100", "0990", "01a", "0100", "1299", "1300", "0000", "129", "12999", "\n000", "000\n",
			strings.Repeat("x", 47), strings.Repeat("x", 48), strings.Repeat("é", 48), strings.Repeat("\n", 48), strings.Repeat("x", 49),
		} {
			holds := form.Holds(text)
			require.Equal(t, holds, regexp.MustCompile(form.Pattern).MatchString(text), "%s: %q", form.Rule, text)
			if holds {
				held++
			}
		}
		require.GreaterOrEqual(t, held, 2)
	}
}
