package internal_test

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/ascii"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	for i := range 256 {
		c := byte(i)
		require.Equal(t, strings.IndexByte("0123456789", c) >= 0, ascii.IsDigit(c))
		require.Equal(t, strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0, ascii.IsUpper(c))
		require.Equal(t, strings.IndexByte("abcdefghijklmnopqrstuvwxyz", c) >= 0, ascii.IsLower(c))
		require.Equal(t, ascii.IsDigit(c) || ascii.IsUpper(c) || ascii.IsLower(c) || strings.IndexByte(".-_", c) >= 0, ascii.IsName(string([]byte{c})))
		require.Equal(t, c >= 0x20 && c <= 0x7f && c != '"' && c != '\\', ascii.IsPlain(c))
	}
	require.True(t, ascii.IsDigits("0123"))
	require.False(t, ascii.IsDigits(""))
	require.False(t, ascii.IsDigits([]byte("12x")))
	require.True(t, ascii.IsName(""))
	require.False(t, ascii.IsName("a b"))
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
				marks := ascii.Special(binary.LittleEndian.Uint64(text[:]))
				if ascii.IsPlain(byte(i)) {
					require.Zero(t, marks)
				} else {
					require.Equal(t, at, bits.TrailingZeros64(marks)>>3)
				}
			}
		}
	}
}
