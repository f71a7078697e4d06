package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any text inside plain text, at any distance from the ends of words and blocks, is un-escaped as by encoding/json, and
// its rows are counted as byte by byte.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, special := range []string{
		`\"`, `\",\"`, `\"\"`, `\",`, `\r\n`, `\"\r\n\"`, `\n`, `\n\n`, `\r`, `\\`, `\\\"`, `\/`, `\t`, `\u00e9`, `\u000a`, `\ud83d\ude00`,
		"é", "😀", "",
	} {
		for before := range 80 {
			text := strings.Repeat("a", before) + special + strings.Repeat("b,", 50) + special + special +
				strings.Repeat("c", blockSize-before) + special + strings.Repeat("d", 100)
			body := `{"reportdata":"` + text + `","totalrecords":1}`
			var want jsonReport
			require.NoError(t, json.Unmarshal([]byte(body), &want))
			var rows Counter
			rows.add([]byte(want.Data))
			for _, size := range []int{100 + before, bufferSize} {
				got, d, err := decodeReport(body, size, size)
				require.NoError(t, err, "%q", special)
				require.True(t, want.Data == got, "%q after %d in chunks of %d", special, before, size)
				require.Equal(t, rows, *d.rows, "%q after %d in chunks of %d", special, before, size)
			}
		}
	}
}

// The error for plain text that breaks a rule names the place, and the text before it is read.
func TestBlocksRefuse(t *testing.T) {
	t.Parallel()
	const start = `{"reportdata":"`
	for _, wrong := range []string{"\x00", "\x1f", "\n", `\'`, `\u12G4`, `\ud83d`, "\xff", "\xe2\x82", `"x`} {
		for before := range 100 {
			text := strings.Repeat(`ab\n`, 40) + strings.Repeat("c", before)
			body := start + text + wrong + strings.Repeat("d", 200)
			got, d, err := decodeReport(body, bufferSize, bufferSize)
			malformed, ok := err.(*Malformed)
			require.True(t, ok, "%q", wrong)
			at := len(start) + len(text)
			if wrong[0] == '"' {
				at++ // the string ends there, and a comma is missing
			}
			require.Equal(t, int64(at), malformed.Offset, "%q after %d", wrong, before)
			require.Equal(t, strings.ReplaceAll(text, `\n`, "\n"), got)
			require.Equal(t, int64(40), d.rows.rows)
		}
	}
}

// simpleText is JSON text that copyPlain reads by itself, except unknown escapes and quotes without a backslash.
func simpleText(text []byte) []byte {
	for i, b := range text {
		if b < ' ' || b > '~' {
			text[i] = `\\\",nr/t`[b%8]
		}
	}
	return text
}

// hasBareQuote reports whether a quote in text has no backslash of its own.
func hasBareQuote(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}

func FuzzCopyPlain(f *testing.F) {
	for _, text := range []string{shapes["mixed"], shapes["quoted"], shapes["plain"], `a\n\n\r\nb\r\"c\"\r\"\/\\\"`} {
		for state := range rowQuoteCR + 1 {
			f.Add([]byte(strings.Repeat(text, 3)), uint16(60), uint8(state))
			f.Add([]byte(strings.Repeat(text, 3)+`"`+text), uint16(4000), uint8(state))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, room uint16, state uint8) {
		src := simpleText(text)
		dst := make([]byte, room)
		rows := Counter{state: rowState(state) % (rowQuoteCR + 1), bom: len(utf8BOM)}
		want := rows
		w, r, ok := copyPlain(dst, src, &rows)
		if !ok {
			require.Equal(t, want, rows)
			require.Zero(t, w+r)
			require.True(t, hasBareQuote(src))
			return
		}
		var plain string
		require.NoError(t, json.Unmarshal([]byte(`"`+string(src[:r])+`"`), &plain))
		require.Equal(t, plain, string(dst[:w]))
		want.add([]byte(plain))
		require.Equal(t, want, rows)
		if len(src)-r >= 40 && len(dst)-w >= 40 {
			require.Equal(t, byte('\\'), src[r], "stopped for nothing")
			require.Zero(t, simpleEscapes[src[r+1]])
		}
	})
}
