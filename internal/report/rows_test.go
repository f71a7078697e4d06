package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// readRows clones the rows of the body in src.
func readRows(src io.Reader) (rows [][]string, r *Rows, err error) {
	r = NewRows(NewDecoder(src), nil)
	for {
		row, err := r.Next()
		if err == io.EOF {
			return rows, r, nil
		}
		if err != nil {
			return rows, r, err
		}
		rows = append(rows, append([]string{}, row...))
	}
}

// readText reads the rows of a CSV text in chunks of the given size.
func readText(t testing.TB, text string, chunk int) (rows [][]string, r *Rows, err error) {
	t.Helper()
	return readRows(chunkReader{strings.NewReader(jsonBody(t, text, 1)), chunk})
}

// standardRows reads the rows with encoding/csv.
func standardRows(text string, lazy bool) (rows [][]string, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, utf8BOM)))
	r.FieldsPerRecord, r.LazyQuotes = -1, lazy
	for {
		row, err := r.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
}

// longEscapes returns the body of a report in which each escape has six bytes.
func longEscapes(text string) string {
	var long strings.Builder
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&long, `\u%04x`, r)
		} else {
			long.WriteRune(r)
		}
	}
	return `{"reportdata":"` + long.String() + `","totalrecords":1}`
}

func FuzzCSVRows(f *testing.F) {
	for _, text := range []string{
		"", "a,b,c\n", "a\nb", "a,b\r\nc,d\r\n", "a\r", "a\rb\r\r\n", "a\nb,c\n,,\n", "\n\r\na\n\n\nb\n\r\n\r", ",\na,\n,b\n",
		`"a","b,c","d""e"` + "\n", `""` + "\n" + `"",""`, `"a",b,"c",` + "\n", "\"a\nb\",c\n", "\"a\r\nb\r\n\r\n\",c\r\n", "\"a\"\r",
		`""""""` + "\n", utf8BOM, utf8BOM + "a,b\n", utf8BOM + `"a","b"` + "\n", utf8BOM + "\na\n", utf8BOM + utf8BOM + "a\n" + utf8BOM + "b\n",
		" a , b \n", "\x00,é\n", "\x01\",\n", strings.Repeat("x", 200) + ",y\n", `"` + strings.Repeat("x\n", 100) + `",y` + "\n", // well-formed, but one
		"a\nb\"c,d\n", "a\nbbbb\"cccc\n\"d\"\n", "a\nbbb\"ccc\",d\n", "a\nb\"\n", "a\n\nb,\"c\"d\ne\"\n", "\"a\"\rb\"\n", "\"a\"\r\r\n\"\n",
		"a\n\"", "a\n\"b", "a\n\"b\n", "a\n\"b\r\nc,d\r\n", "a\n\"b\"\"", "a\nb,\"\r", "\r\"a\n", "\"a\"\r\"\n", ",\"\n\",\r\n\r\n\"\"", "x\"y,\"z",
	} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(4))
		f.Add("x\r\n"+text+"\nz\n", uint8(200))
	}
	f.Fuzz(func(t *testing.T, text string, chunk uint8) {
		text = strings.ToValidUTF8(text, "?") // as the decoder returns it
		size := int(chunk) + 1
		want, wantErr := standardRows(text, false)
		rows, r, err := readText(t, text, size)
		require.Equal(t, want, rows)
		require.Equal(t, int64(len(rows)), r.Count())
		if wantErr != nil {
			parse, ok := errors.AsType[*csv.ParseError](wantErr)
			require.True(t, ok)
			require.EqualError(t, err, fmt.Sprintf("row %d: %v", len(rows)+1, parse.Err))
			require.ErrorIs(t, err, parse.Err)
		} else {
			require.NoError(t, err)
			require.Equal(t, int64(len(text)), r.Offset())
		}

		loose, err := standardRows(text, true)
		require.NoError(t, err)
		for _, body := range []string{jsonBody(t, text, 1), longEscapes(text)} {
			_, d, err := decodeReport(body, size, size)
			require.NoError(t, err)
			count := int64(len(loose))
			if err := d.FinishRows(); err != nil {
				require.Error(t, wantErr)
				require.EqualError(t, err, fmt.Sprintf("row %d: %v", count, csv.ErrQuote), "the last row is open")
				count--
			}
			require.Equal(t, count, d.CountedRows())
		}
	})
}

// A text that ends inside quotes is an error also for those who do not read rows.
func TestFinishRows(t *testing.T) {
	t.Parallel()
	for text, closed := range map[string]bool{
		"": true, "a": true, "\"a\"": true, "\"a\"\r": true, "a\"": true, "\"": false, "a\n\"b\"\"\n": false, "a,\"b\r\n": false,
	} {
		_, d, err := decodeReport(jsonBody(t, text, 1), 1, 1)
		require.NoError(t, err)
		if err = d.FinishRows(); closed {
			require.NoError(t, err, "%q", text)
		} else {
			require.ErrorIs(t, err, csv.ErrQuote, "%q", text)
		}
	}
}

// Rows that cross the edges of all buffers are those of encoding/csv.
func TestLongRows(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "%s,\"%s\r\n\",%s\r\n", strings.Repeat("x", i%37), strings.Repeat("y,", i%11), []string{"é", "😀", "\\", `""""`}[i%4])
	}
	text.WriteString(strings.Repeat("z", 5*bufferSize))
	want, err := standardRows(text.String(), false)
	require.NoError(t, err)
	rows, r, err := readText(t, text.String(), bufferSize)
	require.NoError(t, err)
	require.Equal(t, want, rows)
	require.Equal(t, int64(text.Len()), r.Offset())
}

func TestCSVRowsLimits(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", maxRow)
	most := strings.Repeat(",", maxFields-1)
	for name, test := range map[string]struct {
		row  string
		rule error
	}{
		"longest":       {longest, nil},
		"too long":      {longest + "x", errRowSize},
		"longest lines": {`"` + longest[3:] + "\n" + `"`, nil},
		"too long line": {`"` + longest[2:] + "\n" + `"`, errRowSize},
		"most":          {most, nil},
		"too many":      {most + ",", errRowFields},
		"most, quoted":  {`"` + most + `,",` + most[1:], nil},
		"many, quoted":  {`"",` + most + ",", errRowFields},
		"far too many":  {most + most, errRowFields},
	} {
		for _, end := range []string{"", "\n", "\na\n"} {
			rows, _, err := readText(t, "\na\n"+test.row+end, bufferSize)
			if test.rule == nil {
				require.NoError(t, err, name)
				require.Equal(t, len(want(t, test.row)), len(rows[1]), name)
				continue
			}
			require.EqualError(t, err, "row 2: "+test.rule.Error(), name)
			require.Equal(t, [][]string{{"a"}}, rows)
		}
	}
	// Without rows no limit applies.
	text, _, err := decodeReport(jsonBody(t, longest+longest, 1), bufferSize, bufferSize)
	require.NoError(t, err)
	require.Len(t, text, 2*maxRow)

	// An open quote, or an endless row, is not read on and on.
	for _, start := range []string{`\"`, ``} {
		_, r, err := readRows(io.MultiReader(strings.NewReader(`{"reportdata":"`+start), endlessReader{}))
		require.ErrorIs(t, err, errRowSize)
		require.Less(t, r.decoder.body.offset, int64(maxRow+4*bufferSize))
	}
}

// want is the only row of a text.
func want(t testing.TB, text string) []string {
	t.Helper()
	rows, err := standardRows(text, false)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	return rows[0]
}

// endlessReader returns text without end.
type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestCSVRowsSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for text, want := range map[string]int{
		"": 0, "a": 0, `a\n`: 1, `a\nb`: 1, `a\n\"b\nc`: 1, `a\nb\n`: 2, `a\nb\"`: 1, `a\n\"b\"\r`: 1, `a\n\"b\"c`: 1,
	} {
		rows, _, err := readRows(io.MultiReader(strings.NewReader(`{"reportdata":"`+text), iotest.ErrReader(broken)))
		require.Equal(t, broken, err, "a row that may continue is not returned: %q", text)
		require.Len(t, rows, want)
	}
	rows, _, err := readRows(io.MultiReader(strings.NewReader(`{"reportdata":"a\nb\"\n`), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, csv.ErrBareQuote, "found before")
	require.Len(t, rows, 1)
}
