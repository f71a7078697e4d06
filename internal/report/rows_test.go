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

// readCSVRows reads text in chunks of the given size, and clones the rows.
func readCSVRows(t testing.TB, text string, chunk int) (rows [][]string, c *Rows, err error) {
	return collectRows(NewRows(NewDecoder(chunkReader{strings.NewReader(jsonBody(t, text, 1)), chunk})))
}

// collectRows clones the rows of c, which it returns too.
func collectRows(c *Rows) (rows [][]string, _ *Rows, err error) {
	for {
		row, err := c.Next()
		if err == io.EOF {
			return rows, c, nil
		}
		if err != nil {
			return rows, c, err
		}
		rows = append(rows, append([]string{}, row...))
	}
}

// csvBefore and csvAfter surround a text whose rows are to be whole in the buffer, as most are.
const csvBefore, csvAfter = "x\n", "\n0123456789\n"

// countCSVRows counts the rows of text while it is un-escaped, in chunks of the given size and in large ones, from short
// and long escapes, and without escapes. closed is false if the text ends inside quotes.
func countCSVRows(t testing.TB, text string, chunk int) (rows int64, closed bool) {
	t.Helper()
	var long strings.Builder
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&long, `\u%04x`, r)
		} else {
			long.WriteRune(r)
		}
	}
	for i, body := range []string{jsonBody(t, text, 1), `{"reportdata":"` + long.String() + `","totalrecords":1}`} {
		for _, size := range []int{1, chunk, bufferSize} {
			_, d, err := decodeReport(body, size, size)
			require.NoError(t, err)
			err = d.FinishRows()
			if i > 0 || size > 1 {
				require.Equal(t, closed, err == nil)
				require.Equal(t, rows, d.CountedRows(), "in chunks of %d", size)
			}
			rows, closed = d.CountedRows(), err == nil
			if !closed {
				require.ErrorIs(t, err, csv.ErrQuote)
			}
		}
	}
	return rows, closed
}

func TestCSVRows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		rows [][]string
	}{
		"empty":                 {"", nil},
		"one":                   {"a,b,c\n", [][]string{{"a", "b", "c"}}},
		"last without end":      {"a\nb", [][]string{{"a"}, {"b"}}},
		"crlf":                  {"a,b\r\nc,d\r\n", [][]string{{"a", "b"}, {"c", "d"}}},
		"last with cr":          {"a\r", [][]string{{"a"}}},
		"cr inside":             {"a\rb\r\r\n", [][]string{{"a\rb\r"}}},
		"ragged":                {"a\nb,c\n,,\n", [][]string{{"a"}, {"b", "c"}, {"", "", ""}}},
		"empty lines":           {"\n\r\na\n\n\nb\n\r\n\r", [][]string{{"a"}, {"b"}}},
		"empty fields":          {",\na,\n,b\n", [][]string{{"", ""}, {"a", ""}, {"", "b"}}},
		"quoted":                {`"a","b,c","d""e"` + "\n", [][]string{{"a", "b,c", `d"e`}}},
		"quoted empty":          {`""` + "\n" + `"",""`, [][]string{{""}, {"", ""}}},
		"quoted, then plain":    {`"a",b,"c",` + "\n", [][]string{{"a", "b", "c", ""}}},
		"quoted newline":        {"\"a\nb\",c\n", [][]string{{"a\nb", "c"}}},
		"quoted crlf":           {"\"a\r\nb\r\n\r\n\",c\r\n", [][]string{{"a\nb\n\n", "c"}}},
		"quoted cr at end":      {"\"a\"\r", [][]string{{"a"}}},
		"only quotes":           {`""""""` + "\n", [][]string{{`""`}}},
		"byte order mark":       {utf8BOM + "a,b\n", [][]string{{"a", "b"}}},
		"mark and quotes":       {utf8BOM + `"a","b"` + "\n", [][]string{{"a", "b"}}},
		"mark and empty line":   {utf8BOM + "\n" + "a\n", [][]string{{"a"}}},
		"mark alone":            {utf8BOM, nil},
		"two marks":             {utf8BOM + utf8BOM + "a\n" + utf8BOM + "b\n", [][]string{{utf8BOM + "a"}, {utf8BOM + "b"}}},
		"space is text":         {" a , b \n", [][]string{{" a ", " b "}}},
		"nul and high":          {"\x00,é\n", [][]string{{"\x00", "é"}}},
		"line longer than 64 K": {strings.Repeat("x", 200_000) + ",y\n", [][]string{{strings.Repeat("x", 200_000), "y"}}},
		"quoted over buffers": {`"` + strings.Repeat("x\n", 100_000) + `",y` + "\n",
			[][]string{{strings.Repeat("x\n", 100_000), "y"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes := []int{1, 2, 3, 4, 5, 7, 11, 1 << 20}
			if len(test.text) > 1000 {
				sizes = sizes[6:]
			}
			for _, size := range sizes {
				rows, c, err := readCSVRows(t, test.text, size)
				require.NoError(t, err)
				require.Equal(t, test.rows, rows)
				require.Equal(t, int64(len(test.rows)), c.Count())
				require.Equal(t, int64(len(test.text)), c.Offset())
				count, closed := countCSVRows(t, test.text, size)
				require.True(t, closed)
				require.Equal(t, int64(len(test.rows)), count)

				if strings.HasPrefix(test.text, utf8BOM) { // further on it is text
					continue
				}
				rows, _, err = readCSVRows(t, csvBefore+test.text+csvAfter, size)
				require.NoError(t, err)
				require.Equal(t, append(append([][]string{{"x"}}, test.rows...), []string{"0123456789"}), rows)
			}
		})
	}
}

func TestCSVRowsMalformed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text  string
		rule  error
		row   int
		count int64 // as text
	}{
		"bare quote":          {"a\nb\"c,d\n", csv.ErrBareQuote, 2, 2},
		"bare quote inside":   {"a\nbbbb\"cccc\n\"d\"\n", csv.ErrBareQuote, 2, 3},
		"bare quotes, paired": {"a\nbbb\"ccc\",d\n", csv.ErrBareQuote, 2, 2},
		"bare quote at end":   {"a\nb\"\n", csv.ErrBareQuote, 2, 2},
		"text after quotes":   {"a\n\nb,\"c\"d\ne\"\n", csv.ErrQuote, 2, 2},
		"cr after quotes":     {"\"a\"\rb\"\n", csv.ErrQuote, 1, 1},
		"two cr":              {"\"a\"\r\r\n\"\n", csv.ErrQuote, 1, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 3, 100} {
				rows, _, err := readCSVRows(t, test.text, size)
				require.ErrorIs(t, err, test.rule)
				require.ErrorContains(t, err, fmt.Sprintf("row %d", test.row))
				require.Len(t, rows, test.row-1)
				count, closed := countCSVRows(t, test.text, size)
				require.True(t, closed)
				require.Equal(t, test.count, count)

				rows, _, err = readCSVRows(t, csvBefore+test.text+csvAfter, size)
				require.ErrorIs(t, err, test.rule)
				require.ErrorContains(t, err, fmt.Sprintf("row %d", test.row+1))
				require.Len(t, rows, test.row)
			}
		})
	}
}

func TestCSVRowsOpenQuotes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a\n\"", "a\n\"b", "a\n\"b\n", "a\n\"b\r\nc,d\r\n", "a\n\"b\"\"", "a\nb,\"\r"} {
		for _, size := range []int{1, 2, 100} {
			rows, _, err := readCSVRows(t, text, size)
			require.ErrorIs(t, err, csv.ErrQuote, "%q", text)
			require.Equal(t, [][]string{{"a"}}, rows)
			count, closed := countCSVRows(t, text, size)
			require.False(t, closed)
			require.Equal(t, int64(1), count)
		}
	}
}

func TestCSVRowsLimits(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", maxRow)
	most := strings.Repeat(",", maxFields-1)
	for _, end := range []string{"", "\n", "\na\n"} {
		rows, _, err := readCSVRows(t, "a\n"+longest+end, 1<<20)
		require.NoError(t, err)
		require.Len(t, rows[1][0], maxRow)

		rows, _, err = readCSVRows(t, "a\n"+longest+"x"+end, 1<<20)
		require.ErrorIs(t, err, errRowSize)
		require.ErrorContains(t, err, "row 2")
		require.Len(t, rows, 1)

		_, _, err = readCSVRows(t, "a\n\""+longest[:maxRow-3]+"\n"+`"`+end, 1<<20)
		require.NoError(t, err)
		_, _, err = readCSVRows(t, "a\n\""+longest[:maxRow-2]+"\n"+`"`+end, 1<<20)
		require.ErrorIs(t, err, errRowSize)
		_, _, err = readCSVRows(t, "a\n\""+longest[:maxRow-1]+"\n"+end, 1<<20)
		require.Error(t, err)

		for _, prefix := range []string{"", `""`} {
			rows, _, err = readCSVRows(t, prefix+most+end, 1<<20)
			require.NoError(t, err)
			require.Len(t, rows[0], maxFields)
			_, _, err = readCSVRows(t, prefix+most+","+end, 1<<20)
			require.ErrorIs(t, err, errRowFields)
		}
	}
	// An open quote does not make the buffer grow without end.
	c := NewRows(NewDecoder(io.MultiReader(strings.NewReader(`{"reportdata":"\"`), endlessReader{})))
	_, err := c.Next()
	require.ErrorIs(t, err, errRowSize)
	require.Less(t, c.decoder.body.offset, int64(2*maxRow))
}

// endlessReader returns lines without end.
type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "abcdefg/"[i%8]
	}
	return len(p), nil
}

func TestCSVRowsSourceFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for text, want := range map[string]int{
		"": 0, "a": 0, `a\n`: 1, `a\nb`: 1, `a\n\"b\nc`: 1, `a\nb\n`: 2, `a\nb\"`: 1, `a\n\"b\"\r`: 1, `a\n\"b\"c`: 1,
	} {
		c := NewRows(NewDecoder(io.MultiReader(strings.NewReader(`{"reportdata":"`+text), iotest.ErrReader(broken))))
		for range want {
			_, err := c.Next()
			require.NoError(t, err)
		}
		_, err := c.Next()
		require.Equal(t, broken, err, "a row that may continue is not returned: %q", text)
	}
}

func FuzzCSVRows(f *testing.F) {
	for _, text := range []string{
		"a,b\r\n\"c\r\nd\",\"e\"\"f\"\n\n,\n", "\"a\"\r", "a\rb\r\r\n", "\"a\"\r\r\n", "a\"b\n", "\"a\"b\"\n", "\"a",
		utf8BOM + "\"a\"\n", "\r\"a\n", "\"a\"\r\"\n", ",\"\n\",\r\n\r\n\"\"", "\"\"\"\",\"\n",
	} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(4))
	}
	f.Fuzz(func(t *testing.T, text string, chunk uint8) {
		text = strings.ToValidUTF8(text, "?") // as the decoder returns it
		size := int(chunk) + 1
		standard := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, utf8BOM)))
		standard.FieldsPerRecord = -1
		want, wantErr := standard.ReadAll()
		rows, c, err := readCSVRows(t, text, size)
		count, closed := countCSVRows(t, text, size)
		if wantErr != nil {
			parse, ok := errors.AsType[*csv.ParseError](wantErr)
			require.True(t, ok)
			require.ErrorIs(t, err, parse.Err)
		} else {
			require.NoError(t, err)
			require.Equal(t, want, rows)
			require.Equal(t, int64(len(text)), c.Offset())
			require.True(t, closed)
			require.Equal(t, int64(len(want)), count)
		}
		standard = csv.NewReader(strings.NewReader(csvBefore + text + csvAfter))
		standard.FieldsPerRecord = -1
		want, wantErr = standard.ReadAll()
		rows, _, err = readCSVRows(t, csvBefore+text+csvAfter, size)
		require.Equal(t, wantErr == nil, err == nil)
		if wantErr == nil {
			require.Equal(t, want, rows)
		}
		lazy := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, utf8BOM)))
		lazy.FieldsPerRecord, lazy.LazyQuotes = -1, true
		loose, err := lazy.ReadAll()
		require.NoError(t, err)
		if !closed {
			count++
		}
		require.Equal(t, int64(len(loose)), count, "as text")
	})
}
