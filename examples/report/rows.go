package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"
)

// errRow is a row that cannot be written in the requested format.
var errRow = errors.New("the report does not suit -format jsonl")

// writeRows writes rows until the first error and returns the number written, including the header row. When it
// returns, the counted rows are in the file.
func writeRows(to io.Writer, format string, rows iter.Seq2[[]string, error]) (written int64, err error) {
	buffered := bufio.NewWriterSize(to, 64<<10)
	write := csv.NewWriter(buffered)
	one := write.Write
	if format == "jsonl" {
		one = (&jsonLines{to: buffered}).write
	}
	for row, fault := range rows {
		if fault != nil {
			err = fault
			break
		}
		if err = one(row); err != nil {
			break
		}
		written++
	}
	write.Flush()
	return written, errors.Join(err, write.Error(), buffered.Flush())
}

// jsonLines writes each row as an object with the names of the header row, in their order. All values are strings: only
// the template's author knows which are numbers, and an account ID or amount must not be rounded.
type jsonLines struct {
	to    io.Writer
	names [][]byte // each a JSON string with a colon
	line  []byte
}

func (j *jsonLines) write(row []string) error {
	if j.names == nil {
		return j.header(row)
	}
	if len(row) != len(j.names) {
		return fmt.Errorf("%w: a row has %d fields and the header %d", errRow, len(row), len(j.names))
	}
	j.line = append(j.line[:0], '{')
	for i, value := range row {
		if i > 0 {
			j.line = append(j.line, ',')
		}
		if !utf8.ValidString(value) { // JSON would change it
			return fmt.Errorf("%w: a field is not UTF-8", errRow)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		j.line = append(append(j.line, j.names[i]...), text...)
	}
	j.line = append(j.line, '}', '\n')
	_, err := j.to.Write(j.line)
	return err
}

func (j *jsonLines) header(row []string) error {
	seen := map[string]bool{}
	for _, name := range row {
		if name == "" || seen[name] {
			return fmt.Errorf("%w: a column has no name, or that of another", errRow)
		}
		seen[name] = true
		text, err := json.Marshal(name)
		if err != nil {
			return err
		}
		j.names = append(j.names, append(text, ':'))
	}
	return nil
}
