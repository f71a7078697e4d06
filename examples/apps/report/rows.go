package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"
)

// errRow means that a row cannot be written in the requested format.
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

// jsonLines writes each row as an object with the names of the header row, in the same order. All values are strings: only
// the template's author knows which values are numbers, and an account ID or amount must not be rounded.
type jsonLines struct {
	to    io.Writer
	names []string
}

func (j *jsonLines) write(row []string) error {
	if j.names == nil {
		for i, name := range row {
			if name == "" || slices.Contains(row[:i], name) {
				return fmt.Errorf("%w: a column has no name, or that of another", errRow)
			}
		}
		j.names = slices.Clone(row)
		return nil
	}
	if len(row) != len(j.names) {
		return fmt.Errorf("%w: a row has %d fields and the header %d", errRow, len(row), len(j.names))
	}
	var line []byte
	for i, value := range row {
		if !utf8.ValidString(value) { // JSON would change it
			return fmt.Errorf("%w: a field is not UTF-8", errRow)
		}
		name, _ := json.Marshal(j.names[i]) // never fails for a string
		text, _ := json.Marshal(value)
		line = append(append(append(append(line, ','), name...), ':'), text...)
	}
	line[0] = '{'
	_, err := j.to.Write(append(line, '}', '\n'))
	return err
}
