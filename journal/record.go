package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const header = "prepaid-journal 1\n"

func encode(e Entry) ([]byte, error) {
	if !e.validUTF8() {
		return nil, errors.New("a field is not valid UTF-8")
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	line := append(frame(body), body...)
	if _, ok := decode(line); !ok { // or the whole file would become unreadable
		return nil, errors.New("a field cannot be read again")
	}
	return append(line, '\n'), nil
}

// validUTF8 is checked first, since JSON would replace a request ID that is not valid UTF-8 by another; since Go 1.27 in
// a way that reads back as if it had been intended.
func (e Entry) validUTF8() bool {
	for _, text := range [...]string{
		string(e.RequestID), e.Operation, string(e.AccountID), e.Destination, e.Params, string(e.State),
		string(e.TransactionID), e.CorrelationID, string(e.Code), string(e.Review),
	} {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// frame is what precedes the JSON.
func frame(body []byte) []byte {
	return fmt.Appendf(nil, "%08x %08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), len(body))
}

// prefix is the length of what precedes the JSON in a line.
const prefix = 18

// decode parses a line without its end. It accepts only what encode writes, so that nothing is lost when the record is
// written again.
func decode(line []byte) (Entry, bool) {
	if len(line) < prefix {
		return Entry{}, false
	}
	body := line[prefix:]
	var e Entry
	if !bytes.Equal(line[:prefix], frame(body)) || json.Unmarshal(body, &e) != nil {
		return Entry{}, false
	}
	again, err := json.Marshal(e)
	if err != nil || !bytes.Equal(again, body) || e.RequestID == "" {
		return Entry{}, false
	}
	if !slices.Contains(States(), e.State) {
		return Entry{}, false
	}
	return e, true
}

// overrun reports whether rest, a last line without its end, is more than a whole record: then its end is damaged, not
// missing.
func overrun(rest []byte) bool {
	if len(rest) <= prefix {
		return false
	}
	length, err := strconv.ParseInt(string(rest[prefix-9:prefix-1]), 16, 32)
	if err != nil || length < 0 || length >= int64(len(rest)-prefix) {
		return false
	}
	_, ok := decode(rest[:prefix+int(length)])
	return ok
}

// scan reads a file and keeps each record. good is the length of the valid part; what follows, up to size, is an
// incomplete last line. After an error the kept records are invalid.
func scan(from io.Reader, keep func(Entry)) (good, size int64, err error) {
	r := bufio.NewReaderSize(from, 64<<10)
	head, err := r.Peek(len(header))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return 0, 0, err
	case len(head) < len(header) && strings.HasPrefix(header, string(head)):
		return 0, int64(len(head)), nil
	case string(head) != header:
		return 0, 0, &CorruptError{Line: 1}
	}
	if _, err := r.Discard(len(header)); err != nil {
		return 0, 0, err
	}
	good = int64(len(header))
	for line := 2; ; line++ {
		text, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && !overrun(text):
			return good, good + int64(len(text)), nil
		case err != nil && !errors.Is(err, io.EOF):
			return 0, 0, err
		}
		e, ok := decode(bytes.TrimSuffix(text, []byte("\n")))
		if err != nil || !ok {
			return 0, 0, &CorruptError{Line: line, Offset: good}
		}
		keep(e)
		good += int64(len(text))
	}
}
