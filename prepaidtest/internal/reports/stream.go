package reports

import (
	"bufio"
	"io"
	"strconv"
)

// writeReport writes the report result (2.11) member by member.
func writeReport(w io.Writer, write Writer, headers bool) error {
	buffered := bufio.NewWriterSize(w, 16<<10)
	_, _ = buffered.WriteString(`{"reportdata":"`) // a bufio.Writer keeps its first error
	records, err := write(&jsonText{w: buffered}, headers)
	if err != nil {
		return err
	}
	_, _ = buffered.WriteString(`","totalrecords":` + strconv.Itoa(records) + `}`)
	return buffered.Flush()
}

// jsonText escapes written text for the inside of a JSON string.
type jsonText struct{ w *bufio.Writer }

// Write escapes control characters, quotes and backslashes, and no bytes above ASCII.
func (j *jsonText) Write(p []byte) (int, error) {
	plain := 0 // start of unwritten text without escapes
	for i, c := range p {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		_, _ = j.w.Write(p[plain:i]) // a bufio.Writer keeps its first error
		plain = i + 1
		switch c {
		case '"', '\\':
			_, _ = j.w.Write([]byte{'\\', c})
		case '\n':
			_, _ = j.w.WriteString(`\n`)
		default:
			_, _ = j.w.WriteString(`\u00` + strconv.FormatInt(0x100+int64(c), 16)[1:])
		}
	}
	if _, err := j.w.Write(p[plain:]); err != nil {
		return 0, err
	}
	return len(p), nil
}
