package report

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// jsonReport is the response that carries a report, as encoding/json reads and writes it.
type jsonReport struct {
	Data  string `json:"reportdata"`
	Total int64  `json:"totalrecords"`
}

func jsonBody(t testing.TB, csv string, total int64) string {
	t.Helper()
	body, err := json.Marshal(jsonReport{csv, total})
	require.NoError(t, err)
	return string(body)
}

// shapes are lines of reports, escaped.
var shapes = map[string]string{
	"plain":  `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,Coffee shop Sydney,000123456789,SUCCESS,17\r\n`,
	"mixed":  `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",000123456789,SUCCESS,17\r\n`,
	"quoted": `\"2026-03-01T10:00:00Z\",\"acct-000001\",\"25.50\",\"AUD\",\"1118\",\"Coffee shop, Sydney\"\r\n`,
}

// newCounted returns a decoder that counts rows.
func newCounted(src io.Reader) *Decoder {
	d := NewDecoder(src)
	d.CountRows(new(Counter))
	return d
}

// decodeReport reads body in chunks of the given sizes.
func decodeReport(body string, in, out int) (string, *Decoder, error) {
	d := newCounted(chunkReader{strings.NewReader(body), in})
	var text []byte
	p := make([]byte, out)
	for {
		n, err := d.Read(p)
		text = append(text, p[:n]...)
		if err == io.EOF {
			return string(text), d, nil
		}
		if err != nil {
			return string(text), d, err
		}
	}
}

// chunkReader returns at most size bytes a read.
type chunkReader struct {
	src  io.Reader
	size int
}

func (c chunkReader) Read(p []byte) (int, error) { return c.src.Read(p[:min(c.size, len(p))]) }

// stuckReader returns neither bytes nor an error.
type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }
