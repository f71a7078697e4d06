package report

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Nearly all of a report is ASCII whose only special characters are two-byte escapes. Such text is read in blocks.
// Before a block is copied, it is searched for control characters and bytes above ASCII; afterwards, for an unescaped
// quote. So the copy loop only has to find backslashes. copyFallback handles everything else.
const (
	blockSize     = 4 << 10
	minPlainBlock = 64  // a shorter block costs more time than it saves
	fallbackSize  = 512 // bytes that copyFallback handles before the next check
)

// copyText un-escapes plain text, two-byte escapes and valid UTF-8. It stops at the end of dst or of the buffered
// input, and before any other text. rows counts the rows written; it may be nil.
func (d *Decoder) copyText(dst []byte, rows *Counter) (written int) {
	if rows != nil && rows.bom < len(utf8BOM) { // at the start, where a byte order mark is possible
		w, r := copyFallback(dst[:min(len(utf8BOM), len(dst))], d.buf[d.pos:d.end], nil)
		rows.add(dst[:w])
		d.pos += r
		return w
	}
	for {
		if plain := d.plainBlock(); len(plain) > 0 && len(dst)-written >= minPlainBlock {
			w, r, ok := copyPlain(dst[written:], plain, rows)
			if !ok {
				d.fallbackEnd = d.offset() + int64(len(plain))
			} else if r > 0 {
				written += w
				d.pos += r
				continue
			}
		}
		src := d.buf[d.pos:min(d.end, d.pos+fallbackSize)]
		w, r := copyFallback(dst[written:], src, rows)
		written += w
		d.pos += r
		if r < len(src) || d.pos == d.end {
			return written
		}
	}
}

// plainBlock returns the plain text that follows; empty if there is too little of it. Bytes are examined once, except a few
// where blocks meet.
func (d *Decoder) plainBlock() []byte {
	at := d.offset()
	if at < d.fallbackEnd {
		return nil
	}
	if d.plainEnd-at < minPlainBlock {
		n := plainPrefix(d.buf[d.pos:min(d.end, d.pos+blockSize)])
		d.plainEnd = at + int64(n)
		if n < minPlainBlock {
			d.fallbackEnd = at + min(fallbackSize, int64(d.end-d.pos))
			return nil
		}
	}
	return d.buf[d.pos : d.pos+int(d.plainEnd-at)]
}

// plainPrefix returns how many bytes at the start of p are ASCII without control characters, or a few bytes less.
func plainPrefix(p []byte) (n int) {
	for len(p)-n >= 32 {
		in := (*[32]byte)(p[n:])
		a, b := binary.LittleEndian.Uint64(in[:8]), binary.LittleEndian.Uint64(in[8:16])
		c, d := binary.LittleEndian.Uint64(in[16:24]), binary.LittleEndian.Uint64(in[24:])
		if (a|b|c|d|(a-' '*ascii.Ones)|(b-' '*ascii.Ones)|(c-' '*ascii.Ones)|(d-' '*ascii.Ones))&ascii.Tops != 0 {
			break
		}
		n += 32
	}
	return n
}

// copyPlain un-escapes two-byte escapes in src, which is ASCII without control characters. It stops near the end of dst
// or src and before any other escape. Words are stored before they are examined, so dst may be written past its first w bytes.
// ok is false if there was a quote without a backslash before it; rows is then unchanged.
func copyPlain(dst, src []byte, rows *Counter) (w, r int, ok bool) {
	var state rowState
	if rows != nil {
		state = rows.state
	}
	ended, quotes := 0, 0
scan:
	// All calls in the loop are inlined, so that the loop's variables stay in registers.
	for len(dst)-w >= 40 && len(src)-r >= 40 { // 32 bytes, and the bytes of an escape that may follow
		from, to := (*[32]byte)(src[r:]), (*[32]byte)(dst[w:])
		copy(to[:16], from[:16])
		copy(to[16:], from[16:])
		run := firstMark(
			backslashes(binary.LittleEndian.Uint64(from[:8])), backslashes(binary.LittleEndian.Uint64(from[8:16])),
			backslashes(binary.LittleEndian.Uint64(from[16:24])), backslashes(binary.LittleEndian.Uint64(from[24:])))
		if run > 0 {
			state = state.plain(from[0], from[(run-1)&31])
			w += run
			r += run
		}
		if run == len(from) {
			continue
		}
		in, out := (*[5]byte)(src[r:]), (*[3]byte)(dst[w:])
		out[0] = simpleEscapes[in[1]]
		switch {
		case in[1] == '"':
			quotes++
			state = state.quote()
			if state == rowQuote && in[2] == ',' && in[3] == '\\' && in[4] == '"' { // between two fields in quotes
				quotes++
				out[1], out[2] = ',', '"'
				w += 3
				r += 5
				state = rowQuoted
				continue
			}
		case in[1] == 'r' && in[2] == '\\' && in[3] == 'n' && state.endsRow() && state != rowQuoteCR:
			out[1] = '\n'
			w += 2
			r += 4
			ended++
			state = rowStart
			continue
		case in[1] == 'n':
			if state.endsRow() {
				ended++
			}
			state = state.newline()
		case in[1] == 'r':
			state = state.carriageReturn()
		case out[0] == 0:
			break scan
		default:
			state = state.plain(out[0], out[0])
		}
		w++
		r += 2
	}
	if bytes.Count(src[:r], []byte{'"'}) != quotes {
		return 0, 0, false
	}
	if rows != nil {
		rows.state = state
		rows.rows += int64(ended)
	}
	return w, r, true
}

// backslashes sets the top bit of each byte that is a backslash, in a word that is ASCII. Only the lowest bit set is reliable.
func backslashes(word uint64) uint64 { return (word ^ '\\'*ascii.Ones - ascii.Ones) & ascii.Tops }

// firstMark returns the index of the first of the 32 bytes whose top bit is set; 32 if there is none.
func firstMark(a, b, c, d uint64) int {
	switch {
	case a|b|c|d == 0:
		return 32
	case a != 0:
		return bits.TrailingZeros64(a) >> 3
	case b != 0:
		return 8 + bits.TrailingZeros64(b)>>3
	case c != 0:
		return 16 + bits.TrailingZeros64(c)>>3
	}
	return 24 + bits.TrailingZeros64(d)>>3
}
