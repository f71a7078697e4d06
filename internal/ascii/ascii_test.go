package ascii

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	for i := range 256 {
		c := byte(i)
		require.Equal(t, strings.IndexByte("0123456789", c) >= 0, IsDigit(c))
		require.Equal(t, strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0, IsUpper(c))
		require.Equal(t, strings.IndexByte("abcdefghijklmnopqrstuvwxyz", c) >= 0, IsLower(c))
		require.Equal(t, IsDigit(c) || IsUpper(c) || IsLower(c) || strings.IndexByte(".-_", c) >= 0, IsName(string([]byte{c})))
		require.Equal(t, c >= 0x20 && c <= 0x7f && c != '"' && c != '\\', IsPlain(c))
	}
	require.True(t, IsDigits("0123"))
	require.False(t, IsDigits(""))
	require.False(t, IsDigits([]byte("12x")))
	require.True(t, IsName(""))
	require.False(t, IsName("a b"))
}

// The lowest mark is at the first byte that is not plain, wherever it is and whatever follows.
func TestSpecial(t *testing.T) {
	t.Parallel()
	for i := range 256 {
		for at := range 8 {
			for _, around := range []byte{' ', '~', 'a', 0x7f} {
				var text [8]byte
				for j := range text {
					text[j] = around
				}
				text[at] = byte(i)
				marks := Special(binary.LittleEndian.Uint64(text[:]))
				if IsPlain(byte(i)) {
					require.Zero(t, marks)
				} else {
					require.Equal(t, at, bits.TrailingZeros64(marks)>>3)
				}
			}
		}
	}
}
