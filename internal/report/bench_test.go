package report

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

// benchmarkShapes runs a benchmark on 32 MB of each shape.
func benchmarkShapes(b *testing.B, use func(b *testing.B, body []byte)) {
	for name, line := range shapes {
		b.Run(name, func(b *testing.B) {
			count := 32 << 20 / len(line)
			body := []byte(`{"reportdata":"` + strings.Repeat(line, count) + `","totalrecords":1}`)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				use(b, body)
			}
		})
	}
}

func BenchmarkReportRows(b *testing.B) {
	benchmarkShapes(b, func(b *testing.B, body []byte) {
		rows := NewRows(NewDecoder(bytes.NewReader(body)))
		for {
			if _, err := rows.Next(); err == io.EOF {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReportRowsBaseline reads rows with the standard library alone.
func BenchmarkReportRowsBaseline(b *testing.B) {
	benchmarkShapes(b, func(b *testing.B, body []byte) {
		all, err := io.ReadAll(bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		var report jsonReport
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
	benchmarkShapes(b, func(b *testing.B, body []byte) {
		d := newCounted(bytes.NewReader(body))
		for {
			if _, err := d.Read(p); err == io.EOF {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReportDownload copies a report from a server on loopback, next to a copy of the body as it arrives.
func BenchmarkReportDownload(b *testing.B) {
	copies := map[string]func(io.Reader) io.Reader{
		"body": func(body io.Reader) io.Reader { return body },
		"text": func(body io.Reader) io.Reader { return newCounted(body) },
	}
	for name, reader := range copies {
		b.Run(name, func(b *testing.B) {
			p := make([]byte, 32<<10)
			benchmarkShapes(b, func(b *testing.B, body []byte) {
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
