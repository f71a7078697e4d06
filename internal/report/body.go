package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

const (
	maxScalar = 64 << 10 // bytes without a bracket, comma, colon or quote: a number, a word or white space
	maxKept   = maxCountLength + 1

	utf8BOM = "\uFEFF"
)

// body is the response as its JSON decoder reads it: strings are checked and shortened to maxKept bytes, so that the decoder never
// holds a long one. After the opening quote of a string, body waits until the decoder asks for more. The caller can instead read
// the string with unescape, and then call endText.
type body struct {
	in     *bufio.Reader
	offset int64 // bytes read from in

	inString bool
	rest     []byte // for the JSON decoder
	given    int64  // bytes for the JSON decoder, with rest
	scalar   int    // length of the current value outside strings
	err      error  // final
	kept     []byte // a buffer for strings
}

func newBody(src io.Reader) *body {
	return &body{in: bufio.NewReaderSize(src, bufferSize), kept: make([]byte, 0, 256)}
}

// skipMark drops a byte order mark.
func (b *body) skipMark() {
	if mark, _ := b.in.Peek(len(utf8BOM)); string(mark) == utf8BOM {
		b.discard(len(utf8BOM))
	}
}

// Read returns JSON with short strings.
func (b *body) Read(p []byte) (int, error) {
	if len(b.rest) == 0 && b.err == nil {
		b.rest, b.err = b.next()
		b.given += int64(len(b.rest))
	}
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// next returns the input up to the opening quote of the next string, or the rest of a string.
func (b *body) next() ([]byte, error) {
	if b.inString {
		return b.shortString()
	}
	if _, err := b.in.Peek(1); err != nil {
		return nil, err
	}
	part, _ := b.in.Peek(b.in.Buffered())
	if i := bytes.IndexByte(part, '"'); i >= 0 {
		part = part[:i+1]
		b.inString = true
	}
	for i, c := range part {
		if b.scalar++; strings.IndexByte(`{}[],:"`, c) >= 0 {
			b.scalar = 0
		} else if b.scalar > maxScalar {
			b.discard(i)
			return nil, b.malformed("a value longer than 64 KiB")
		}
	}
	b.discard(len(part))
	return part, nil
}

// shortString reads the rest of a string, and returns the rest of a string that starts in the same way.
func (b *body) shortString() ([]byte, error) {
	var start []byte
	for b.inString {
		text, err := b.unescape(b.kept, nil)
		if err != nil {
			return nil, err
		}
		start = append(start, text[:min(len(text), maxKept-len(start))]...)
	}
	quoted, _ := jsontext.AppendQuote(nil, start) // the last rune may be cut off; it becomes U+FFFD
	return quoted[1:], nil
}

// endText gives the JSON decoder the closing quote of a string that was read with unescape.
func (b *body) endText() {
	b.rest = []byte{'"'}
	b.given++
}

// unescape returns the next part of the current string in the space of out, and counts its rows unless rows is nil. It waits
// for input only while it has nothing to return, or inside an escape or a rune. With an error it returns the text up to that.
func (b *body) unescape(out []byte, rows *counter) (_ []byte, err error) {
	for len(out)+utf8.UTFMax <= cap(out) {
		if b.in.Buffered() == 0 && len(out) > 0 {
			break
		}
		if _, err := b.in.Peek(1); err != nil {
			return out, b.ended(err)
		}
		part, _ := b.in.Peek(min(b.in.Buffered(), cap(out)-len(out)))
		start := len(out)
		n := ascii.PlainLength(part)
		switch {
		case n > 0:
			out = append(out, part[:n]...)
			b.discard(n)
		case part[0] == '"':
			b.inString = false
			b.discard(1)
			return out, nil
		case part[0] == '\\':
			out, err = b.escape(out)
		case part[0] >= utf8.RuneSelf:
			out, err = b.rune(out)
		default:
			err = b.malformed("control character in a string")
		}
		if err != nil {
			return out, err
		}
		if rows != nil {
			rows.add(out[start:])
		}
	}
	return out, nil
}

// rune reads one rune.
func (b *body) rune(out []byte) ([]byte, error) {
	raw, err := b.in.Peek(utf8.UTFMax) // less at the end
	if !utf8.FullRune(raw) {
		return out, b.ended(err)
	}
	_, size := utf8.DecodeRune(raw)
	if size == 1 {
		return out, b.malformed("invalid UTF-8 in a string")
	}
	out = append(out, raw[:size]...)
	b.discard(size)
	return out, nil
}

// escape reads one escape, or the two escapes of a surrogate pair.
func (b *body) escape(out []byte) ([]byte, error) {
	const short, long = len(`\n`), len(`\u0000`)
	raw, err := b.in.Peek(short)
	if err != nil {
		return out, b.ended(err)
	}
	if i := strings.IndexByte(`"\/nrtbf`, raw[1]); i >= 0 {
		b.discard(short)
		return append(out, "\"\\/\n\r\t\b\f"[i]), nil
	}
	if raw[1] != 'u' {
		return out, b.malformed("unknown escape in a string")
	}
	if raw, err = b.in.Peek(long); err != nil {
		return out, b.ended(err)
	}
	if raw[2]|0x20 == 'd' && strings.IndexByte("89abAB", raw[3]) >= 0 { // the first half of a pair
		if raw, err = b.in.Peek(2 * long); err != nil {
			return out, b.ended(err)
		}
	}
	var quoted [2*len(`\u0000`) + 2]byte
	text, err := jsontext.AppendUnquote(out, append(append(append(quoted[:0], '"'), raw...), '"'))
	if err != nil {
		return out, b.malformed("invalid escape in a string")
	}
	b.discard(len(raw))
	return text, nil
}

func (b *body) discard(n int) {
	_, _ = b.in.Discard(n) // n bytes are buffered
	b.offset += int64(n)
}

// offsetOf returns the offset in the response of a byte in the last part for the JSON decoder.
func (b *body) offsetOf(given int64) int64 { return b.offset - (b.given - given) }

// ended returns the error for a source that ended too early with err.
func (b *body) ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Malformed{Offset: b.offset + int64(b.in.Buffered()), Err: io.ErrUnexpectedEOF}
	}
	return err
}

// malformed returns the error for a broken rule at the next byte. The rule must not quote content.
func (b *body) malformed(rule string) error {
	return &Malformed{Offset: b.offset, Err: errors.New(rule)}
}
