package journalfile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const header = "prepaid-journal 1\n"

// asBefore are the options for JSON in the form of encoding/json, which wrote the first journals.
var asBefore = json.JoinOptions(jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true), jsonv1.FormatDurationAsNano(true))

func encode(e journal.Entry) ([]byte, error) {
	now := time.Now().UTC()
	body, err := json.Marshal(e.Shift(now, now), asBefore) // times in UTC
	if err != nil {
		return nil, err
	}
	line := append(frame(body), body...)
	if !decode(line, new(journal.Entry)) { // Open would refuse the whole file because of this line
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

// decode parses a line, without its line feed, into e. It accepts only output of encode, so that writing the record again loses nothing.
func decode(line []byte, e *journal.Entry) bool { return decodeText(line, string(line), e) }

// decodeText is decode for a line that is also available as text; the strings of e are parts of text.
func decodeText(line []byte, text string, e *journal.Entry) bool {
	*e = journal.Entry{}
	if len(line) < prefix {
		return false
	}
	body := line[prefix:]
	if !bytes.Equal(line[:prefix], frame(body)) {
		return false
	}
	if !decodePlain(text[prefix:], e) {
		*e = journal.Entry{}
		if json.Unmarshal(body, e, asBefore) != nil {
			return false
		}
		if again, err := json.Marshal(e, asBefore); err != nil || !bytes.Equal(again, body) {
			return false
		}
	}
	return e.RequestID != "" && slices.Contains(journal.States(), e.State)
}

// overrun reports whether rest, a last line without line feed, is longer than its record: its line feed is then damaged, not missing.
func overrun(rest []byte) bool {
	if len(rest) <= prefix {
		return false
	}
	length, err := strconv.ParseInt(string(rest[prefix-9:prefix-1]), 16, 32)
	if err != nil || length < 0 || length >= int64(len(rest)-prefix) {
		return false
	}
	return decode(rest[:prefix+int(length)], new(journal.Entry))
}

// scan reads a file and calls keep for each record. at is where the record's line begins. line and its entry e are valid only during the
// call. good is the length of the valid part; the rest, up to size, is an incomplete last line. After an error ignore all records.
func scan(from io.Reader, keep func(at int64, line []byte, e *journal.Entry)) (good, size int64, err error) {
	r := bufio.NewReader(from) // a block is read past its small buffer
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
	number, length := 2, 4<<10 // a small file needs no large block
	var queue []*block         // in the order of the file
	for spare := new(block); ; length = 64 << 10 {
		next := spare
		left, err := next.read(r, length)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return 0, 0, err
		}
		queue = append(queue, next)
		for spare = new(block); len(queue) > 0 && (ended || len(queue) > runtime.GOMAXPROCS(0)); queue = queue[1:] {
			spare = queue[0]
			entries := <-spare.decoded
			for line := range bytes.Lines(spare.text) {
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

// block is some lines of a file. The lines of a block are decoded while other blocks are read or passed to keep.
type block struct {
	text    []byte
	entries []journal.Entry
	decoded chan []journal.Entry // the entries before the first damaged line
}

// read reads lines of about the given length together, and begins to decode them. At the end of the file it returns an incomplete last
// line.
func (b *block) read(r *bufio.Reader, length int) (left []byte, err error) {
	text := slices.Grow(b.text[:0], length+2<<10)[:length]
	n, err := io.ReadFull(r, text)
	text = text[:n]
	for full := err == nil; full; full = errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = r.ReadSlice('\n')
		text = append(text, part...)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	b.text, b.decoded = text[:end], make(chan []journal.Entry, 1)
	go b.decode()
	return text[end:], err
}

func (b *block) decode() {
	b.entries = b.entries[:0]
	text := string(b.text)
	for line := range bytes.Lines(b.text) {
		b.entries = append(b.entries, journal.Entry{})
		end := len(line) - 1
		if last := len(b.entries) - 1; !decodeText(line[:end], text[:end], &b.entries[last]) {
			b.entries = b.entries[:last]
			break
		}
		text = text[len(line):]
	}
	b.decoded <- b.entries
}

type member struct {
	start string // the text before the value
	omit  bool   // a zero value is omitted
}

// members returns the fields of an Entry in the order of the JSON.
var members = sync.OnceValue(func() (all []member) {
	start := `{"`
	for field := range reflect.TypeFor[journal.Entry]().Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, member{start + name + `":`, options != ""})
		start = `,"`
	}
	return all
})

// decodePlain decodes an Entry, into a zero Entry, from JSON in the usual form of encode: no escapes, and times in UTC. It
// rejects text that encode would write in another way. Text that it rejects may be valid.
func decodePlain(text string, into *journal.Entry) bool {
	fields := reflect.ValueOf(into).Elem()
	for i, m := range members() {
		rest, found := strings.CutPrefix(text, m.start)
		if !found && m.omit {
			continue
		}
		value, quoted := strings.CutPrefix(rest, `"`)
		end := 0
		if quoted {
			end = strings.IndexByte(value, '"')
		} else {
			end = strings.IndexAny(value, ",}")
		}
		if !found || end < 0 {
			return false
		}
		if value, text = value[:end], value[end:]; quoted {
			text = text[1:]
		}
		if field := fields.Field(i); !setPlain(field, value, quoted) || m.omit && field.IsZero() {
			return false
		}
	}
	return text == "}"
}

// setPlain sets a field from its value in JSON, without quotation marks. It returns false if encode might write another value.
func setPlain(field reflect.Value, text string, quoted bool) bool {
	switch field.Kind() { //nolint:exhaustive // any other is below
	case reflect.String:
		for i := range len(text) {
			if c := text[i]; c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
				return false
			}
		}
		field.SetString(text)
		return quoted
	case reflect.Int, reflect.Int64:
		n, err := strconv.Atoi(text)
		field.SetInt(int64(n))
		return !quoted && err == nil && strconv.Itoa(n) == text
	case reflect.Bool:
		field.SetBool(text == "true")
		return !quoted && (text == "true" || text == "false")
	}
	again := make([]byte, 0, 40)
	switch to := field.Addr().Interface().(type) {
	case *time.Time:
		if !quoted || !strings.HasSuffix(text, "Z") || to.UnmarshalText([]byte(text)) != nil {
			return false
		}
		again, _ = to.AppendText(again) // to compare with text
	case *prepaid.Amount:
		if quoted || to.UnmarshalText([]byte(text)) != nil {
			return false
		}
		again, _ = to.AppendText(again)
	case *[]byte:
		var err error
		*to, err = base64.StdEncoding.Strict().DecodeString(text)
		return quoted && err == nil && len(text) == base64.StdEncoding.EncodedLen(len(*to)) // no line breaks
	default:
		return false
	}
	return string(again) == text
}
