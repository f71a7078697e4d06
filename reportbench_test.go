package prepaid

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// reportShapes are lines of reports, escaped.
var reportShapes = map[string]string{
	"plain":   `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,Coffee shop Sydney,000123456789,SUCCESS,17\r\n`,
	"mixed":   `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,1118,\"Coffee shop, Sydney\",000123456789,SUCCESS,17\r\n`,
	"quoted":  `\"2026-03-01T10:00:00Z\",\"acct-000001\",\"25.50\",\"AUD\",\"1118\",\"Coffee shop, Sydney\"\r\n`,
	"foreign": `2026-03-01T10:00:00Z,acct-000001,25.50,AUD,Кафе на углу,Zoë,1118\n`,
}

// benchmarkReportShapes runs a benchmark on 32 MB of each shape.
func benchmarkReportShapes(b *testing.B, use func(b *testing.B, body []byte)) {
	for name, line := range reportShapes {
		b.Run(name, func(b *testing.B) {
			body, _ := io.ReadAll(newReportGenerator(32<<20/int64(len(line)), line))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				use(b, body)
			}
		})
	}
}

func BenchmarkReportRows(b *testing.B) {
	benchmarkReportShapes(b, func(b *testing.B, body []byte) {
		for _, err := range newReportReader(ReportRun{}, io.NopCloser(bytes.NewReader(body)), nil).Rows() {
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReportRowsFloor reads rows as one does without this package.
func BenchmarkReportRowsFloor(b *testing.B) {
	benchmarkReportShapes(b, func(b *testing.B, body []byte) {
		all, err := io.ReadAll(bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		var report Report
		if err := json.Unmarshal(all, &report); err != nil {
			b.Fatal(err)
		}
		rows := csv.NewReader(strings.NewReader(report.Data))
		rows.ReuseRecord = true
		for err == nil {
			_, err = rows.Read()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	})
}

func BenchmarkReportRead(b *testing.B) {
	p := make([]byte, 32<<10) // as io.Copy has
	benchmarkReportShapes(b, func(b *testing.B, body []byte) {
		r := newReportReader(ReportRun{}, io.NopCloser(bytes.NewReader(body)), nil)
		for {
			if _, err := r.Read(p); err == io.EOF {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReportDownload copies a report from a server on loopback, beside a copy of the body as it comes.
func BenchmarkReportDownload(b *testing.B) {
	copies := map[string]func(io.ReadCloser) io.Reader{
		"body": func(body io.ReadCloser) io.Reader { return body },
		"text": func(body io.ReadCloser) io.Reader { return newReportReader(ReportRun{}, body, nil) },
	}
	for name, reader := range copies {
		b.Run(name, func(b *testing.B) {
			p := make([]byte, 32<<10)
			benchmarkReportShapes(b, func(b *testing.B, body []byte) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
				defer server.Close()
				response, err := server.Client().Get(server.URL)
				if err != nil {
					b.Fatal(err)
				}
				defer response.Body.Close()
				// The destination hides io.ReaderFrom, so that the copy has the buffer of a copy to a file.
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, reader(response.Body), p); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
