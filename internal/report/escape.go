package report

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// unescape writes text of the current JSON string into dst until dst is full, the buffered input is used up, or the
// string ends. At the end of the string it reads the closing quote, and closed is true. It waits for input only while it
// has nothing to return, or inside an escape or a rune. rows counts the rows written; it may be nil.
func (d *Decoder) unescape(dst []byte, rows *Counter) (n int, closed bool, err error) {
	if d.pendPos < d.pendSize {
		n = copy(dst, d.pending[d.pendPos:d.pendSize])
		d.pendPos += n
	}
	for n < len(dst) {
		if d.pos == d.end {
			if n > 0 {
				return n, false, nil
			}
			if !d.need(1) {
				return n, false, d.truncated()
			}
		}
		n += d.copyText(dst[n:], rows)
		if n == len(dst) || d.pos == d.end || ascii.IsPlain(d.buf[d.pos]) {
			continue
		}
		var r rune
		switch c := d.buf[d.pos]; {
		case c == '"':
			d.pos++
			return n, true, nil
		case c == '\\':
			if r, err = d.escape(); err != nil {
				return n, false, err
			}
		case c >= utf8.RuneSelf:
			if r, err = d.rune(); err != nil {
				return n, false, err
			}
		default:
			return n, false, d.malformed("control character in a string")
		}
		d.pendSize = utf8.EncodeRune(d.pending[:], r)
		if rows != nil {
			rows.add(d.pending[:d.pendSize])
		}
		d.pendPos = copy(dst[n:], d.pending[:d.pendSize])
		n += d.pendPos
	}
	return n, false, nil
}

// copyFallback does the work of copyText for any src. It stores each word before it examines the word, so it may change bytes of
// dst past the written ones.
func copyFallback(dst, src []byte, rows *Counter) (written, read int) {
	w, r := 0, 0
	for {
		run := r
		for len(dst)-w >= 16 && len(src)-r >= 16 {
			from, to := (*[16]byte)(src[r:]), (*[16]byte)(dst[w:])
			low, high := binary.LittleEndian.Uint64(from[:8]), binary.LittleEndian.Uint64(from[8:])
			binary.LittleEndian.PutUint64(to[:8], low)
			binary.LittleEndian.PutUint64(to[8:], high)
			marks, highMarks := ascii.Special(low), ascii.Special(high)
			if marks|highMarks == 0 {
				w += 16
				r += 16
				continue
			}
			plain := bits.TrailingZeros64(marks) >> 3 // 8 when there is none
			if marks == 0 {
				plain += bits.TrailingZeros64(highMarks) >> 3
			}
			w += plain
			r += plain
			if src[r] < utf8.RuneSelf {
				break
			}
			n := copyRunes(dst[w:], src[r:])
			if n == 0 {
				break
			}
			w += n
			r += n
		}
		for w < len(dst) && r < len(src) && ascii.IsPlain(src[r]) { // near the end of dst or src
			dst[w] = src[r]
			w++
			r++
		}
		if run < r && rows != nil {
			rows.plain(src[run:r])
		}
		// Between quoted fields there are several successive escapes, such as \",\" or \"\r\n\": this loop reads all of them.
		more := false
		for len(dst)-w >= 2 && len(src)-r >= 3 && src[r] == '\\' {
			c := simpleEscapes[src[r+1]]
			if c == 0 {
				return w, r
			}
			if rows != nil {
				rows.step(c)
			}
			dst[w] = c
			w++
			r += 2
			more = true
			if src[r] == ',' {
				dst[w] = ','
				if rows != nil {
					rows.step(',')
				}
				w++
				r++
			}
		}
		if !more {
			return w, r
		}
	}
}

// copyRunes copies whole, valid runes above ASCII from the start of src, as many as fit into dst.
func copyRunes(dst, src []byte) (n int) {
	limit := min(len(dst), len(src))
	dst, src = dst[:limit], src[:limit]
	for n < limit && src[n] >= utf8.RuneSelf {
		if lead := src[n]; lead >= 0xC2 && lead <= 0xDF && n+1 < limit && src[n+1]&0xC0 == 0x80 { // two bytes
			dst[n], dst[n+1] = lead, src[n+1]
			n += 2
			continue
		}
		r, size := utf8.DecodeRune(src[n:])
		if r == utf8.RuneError {
			break
		}
		for end := n + size; n < end; n++ {
			dst[n] = src[n]
		}
	}
	return n
}

// rune reads one rune.
func (d *Decoder) rune() (rune, error) {
	for !utf8.FullRune(d.buf[d.pos:d.end]) {
		if !d.need(d.end - d.pos + 1) {
			return 0, d.truncated()
		}
	}
	r, size := utf8.DecodeRune(d.buf[d.pos:d.end])
	if size == 1 {
		return 0, d.malformed("invalid UTF-8 in a string")
	}
	d.pos += size
	return r, nil
}

// escape reads one escape, or the two escapes of a surrogate pair.
func (d *Decoder) escape() (rune, error) {
	const size = len(`\u0000`)
	if !d.need(2) {
		return 0, d.truncated()
	}
	if u := simpleEscapes[d.buf[d.pos+1]]; u != 0 {
		d.pos += 2
		return rune(u), nil
	}
	if d.buf[d.pos+1] != 'u' {
		return 0, d.malformed("unknown escape in a string")
	}
	if !d.need(size) {
		return 0, d.truncated()
	}
	r, ok := hex4(d.buf[d.pos+2 : d.pos+size])
	if !ok {
		return 0, d.malformed("escape without four hex digits")
	}
	length := size
	if utf16.IsSurrogate(r) {
		if !d.need(2 * size) {
			return 0, d.truncated()
		}
		low, _ := hex4(d.buf[d.pos+size+2 : d.pos+2*size])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError || string(d.buf[d.pos+size:d.pos+size+2]) != `\u` {
			return 0, d.malformed("half of a surrogate pair in a string")
		}
		length = 2 * size
	}
	d.pos += length
	return r, nil
}

// simpleEscapes holds the meaning of each two-byte escape; 0 where there is none. Nothing changes it.
var simpleEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f',
}

func hex4(digits []byte) (r rune, ok bool) {
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
