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

// decodeReport reads body in chunks of the given sizes.
func decodeReport(body string, in, out int) (string, *Decoder, error) {
	d := NewDecoder(chunkReader{strings.NewReader(body), in})
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
