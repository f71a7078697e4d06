package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

const header = "prepaid-journal 1\n"

// asBefore are the options for the JSON that encoding/json writes, which wrote the first journals.
var asBefore = json.JoinOptions(jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsonv1.FormatDurationAsNano(true))

func encode(e Entry) ([]byte, error) {
	body, err := json.Marshal(e, asBefore)
	if err != nil {
		return nil, err
	}
	line := append(frame(body), body...)
	if !decode(line, new(Entry)) { // or the whole file would become unreadable
		return nil, errors.New("a field cannot be read again")
	}
	return append(line, '\n'), nil
}

func frame(body []byte) []byte {
	var sums [8]byte
	binary.BigEndian.PutUint32(sums[:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	binary.BigEndian.PutUint32(sums[4:], uint32(len(body))) //nolint:gosec // a record is never that long
	b := hex.AppendEncode(make([]byte, 0, prefix), sums[:4])
	return append(hex.AppendEncode(append(b, ' '), sums[4:]), ' ')
}

// prefix is the length of the text before the JSON in a line.
const prefix = 18

// decode parses a line without its end into e. It accepts only the output of encode, so that nothing is lost when the record is
// written again.
func decode(line []byte, e *Entry) bool {
	*e = Entry{}
	if len(line) < prefix {
		return false
	}
	body := line[prefix:]
	if !bytes.Equal(line[:prefix], frame(body)) || json.Unmarshal(body, e, asBefore) != nil {
		return false
	}
	again, err := json.Marshal(e, asBefore)
	return err == nil && bytes.Equal(again, body) && e.RequestID != "" && slices.Contains(States(), e.State)
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
	return decode(rest[:prefix+int(length)], new(Entry))
}

// scan reads a file and passes each record to keep: where its line begins, the line and its entry, which are valid during the call.
// good is the length of the valid part; the rest, up to size, is an incomplete last line. After an error the records are
// invalid.
func scan(from io.Reader, keep func(at int64, line []byte, e *Entry)) (good, size int64, err error) {
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
	number := 2
	var queue []*block // in the order of the file
	for {
		next, left, err := readBlock(r)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return 0, 0, err
		}
		for queue = append(queue, next); len(queue) > 0 && (ended || len(queue) > runtime.GOMAXPROCS(0)); queue = queue[1:] {
			entries := <-queue[0].decoded
			for line := range bytes.Lines(queue[0].text) {
				if len(entries) == 0 {
					return 0, 0, &CorruptError{Line: number, Offset: good}
				}
				keep(good, line, &entries[0])
				entries = entries[1:]
				good += int64(len(line))
				number++
			}
		}
		if ended && overrun(left) {
			return 0, 0, &CorruptError{Line: number, Offset: good}
		}
		if ended {
			return good, good + int64(len(left)), nil
		}
	}
}

// block is some lines of a file. They are decoded while others are read and kept, which takes as long.
type block struct {
	text    []byte
	decoded chan []Entry // fewer than lines if the next is damaged
}

// readBlock reads lines and begins to decode them. At the end of the file it also returns the remaining text, without its end.
func readBlock(r *bufio.Reader) (b *block, left []byte, err error) {
	text := make([]byte, 64<<10, 66<<10)
	n, err := io.ReadFull(r, text)
	text = text[:n]
	if err == nil {
		var rest []byte
		rest, err = r.ReadBytes('\n')
		text = append(text, rest...)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	b = &block{text: text[:end], decoded: make(chan []Entry, 1)}
	go b.decode()
	return b, text[end:], err
}

func (b *block) decode() {
	entries := make([]Entry, 0, bytes.Count(b.text, []byte("\n")))
	for line := range bytes.Lines(b.text) {
		var e Entry
		if !decode(bytes.TrimSuffix(line, []byte("\n")), &e) {
			break
		}
		entries = append(entries, e)
	}
	b.decoded <- entries
}
