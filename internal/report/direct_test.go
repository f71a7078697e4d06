package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readReportRows reads the rows of a body in chunks of the given size, and clones them.
func readReportRows(body string, chunk int) (rows [][]string, r *Rows, err error) {
	return collectRows(NewRows(NewDecoder(chunkReader{strings.NewReader(body), chunk})))
}

// requireSameRows compares rows cut from a JSON string, which arrives in chunks, with those of its text.
func requireSameRows(t testing.TB, text string, chunks ...int) {
	t.Helper()
	want, w, wantErr := readCSVRows(text, bufferSize)
	body := jsonBody(t, text, 1)
	for _, body := range []string{body, strings.ReplaceAll(body, `,"totalrecords"`, `,"x":"\n\u0041\n","totalrecords"`)} {
		for _, chunk := range chunks {
			rows, r, err := readReportRows(body, chunk)
			require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
			require.True(t, slices.EqualFunc(want, rows, slices.Equal), "want %q, got %q", want, rows)
			require.Equal(t, w.Count(), r.Count())
			require.Equal(t, w.Offset(), r.Offset())
		}
	}
}

// directBefore and directAfter surround a text.
var (
	directBefore = []string{"", "x,y\r\n", strings.Repeat("é\n", 3), strings.Repeat(`1234567,"a, b",c`+"\r\n", 10)}
	directAfter  = []string{"", "\n0123456789,\"0123456789\"\r\nz\n", "\n\"\\,\"\né,\"a\"\"b\"\n0123456789\n"}
)

var directTexts = []string{
	"", "a", "a,b", "\n", "\r\n", "\r", "\n\n\r\n\r\n", ",", ",\n", "\"\"", "\"\"\n", "\"a\"\r\n", "\"a\",b\r\n\"c\",\"d\"\r\n",
	"\"a,b\",\"c\"\n", "a\"b\n", "\"a\"b\n", "\"a", "\"a\r\nb\",c\n", "\"a\"\"b\",c\n", "\"a\"\r", "a\rb\n", "a\\b,c\n", "a\tb\n",
	"a/b,c\n", "é,b\n", "a,é\n", "\U0001F600,b\n", "a\x01b\n", utf8BOM + "a,b\n", strings.Repeat("a", 2000) + ",b\nc\n",
	strings.Repeat(",", 20) + "\n" + strings.Repeat("a,b\r\n", 30), "1234567\n", "12345678\n", "\"\"\"\"\n", "\"\\\"\n", "\"a\"\\,b\n",
	strings.Repeat("é,b\n", 40) + strings.Repeat("a,b\n", 40),
}

// Rows that are cut from the JSON string are those of the un-escaped text, whatever comes before and after them.
func TestDirectRows(t *testing.T) {
	t.Parallel()
	for _, text := range directTexts {
		for _, before := range directBefore {
			for _, after := range directAfter {
				requireSameRows(t, before+text+after, 1, 7, 64, bufferSize)
			}
		}
		beyond := strings.Repeat(directBefore[3], bufferSize/len(directBefore[3])+1)
		requireSameRows(t, beyond+text+beyond, 1000)
	}
	requireSameRows(t, strings.Repeat("a", bufferSize)+",b\nc\n", bufferSize)
}

// Ordinary rows are cut, not un-escaped.
func TestOrdinaryRowsAreDirect(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "mixed", "quoted"} {
		r := NewRows(NewDecoder(strings.NewReader(`{"reportdata":"` + strings.Repeat(shapes[name], 5000) + `","totalrecords":5000}`)))
		for range 5000 {
			_, err := r.Next()
			require.NoError(t, err)
			require.Zero(t, r.end, name)
		}
		_, err := r.Next()
		require.ErrorIs(t, err, io.EOF)
	}
}

func FuzzDirectRows(f *testing.F) {
	for i, text := range directTexts {
		f.Add(text, uint8(9), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, chunk, around uint8) {
		before, after := directBefore[int(around)%len(directBefore)], directAfter[int(around)/4%len(directAfter)]
		requireSameRows(t, before+strings.ToValidUTF8(text, "?")+after, int(chunk)+1)
	})
}
