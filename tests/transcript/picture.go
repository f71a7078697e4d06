package transcript

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// mostBytes is how large a picture of a document may be.
const mostBytes = 150_000

// Picture requires that a PNG file shows a text, apart from the parts that Stable removes. The file contains the text, so that
// the comparison needs neither the browser nor the fonts that made the picture. The function take makes a new picture.
func Picture(t testing.TB, file, text string, take func() []byte) {
	t.Helper()
	path := filepath.Join(tree.Root(t), file)
	picture, err := os.ReadFile(path)
	if *update && (err != nil || Stable(textOf(t, picture)) != Stable(text)) {
		picture = withText(take(), text)
		require.NoError(t, os.WriteFile(path, picture, 0o600))
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, Stable(textOf(t, picture)), Stable(text), "%s: if the new text is right, make tour takes it again", file)
	require.Less(t, len(picture), mostBytes, file)
}

const (
	afterHeader = 33 // the signature and the chunk IHDR
	// A chunk of a PNG file has a length, a type, the data and a checksum. The data of international text begins
	// with a keyword; flags, language and translated keyword follow, and are not used.
	textChunk = "iTXt"
	keyword   = "Description\x00\x00\x00\x00\x00"
)

// withText puts a text into a PNG file.
func withText(picture []byte, text string) []byte {
	chunk := []byte(textChunk + keyword + text)
	var b bytes.Buffer
	b.Write(picture[:afterHeader])
	_ = binary.Write(&b, binary.BigEndian, uint32(len(chunk)-len(textChunk))) //nolint:gosec // the text of a page
	b.Write(chunk)
	_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	b.Write(picture[afterHeader:])
	return b.Bytes()
}

// textOf returns the text that withText put into a PNG file.
func textOf(t testing.TB, picture []byte) string {
	t.Helper()
	require.Greater(t, len(picture), afterHeader+8)
	chunk := picture[afterHeader:]
	length := binary.BigEndian.Uint32(chunk)
	text, ok := strings.CutPrefix(string(chunk[4:8+length]), textChunk+keyword)
	require.True(t, ok, "the picture has no text")
	return text
}
