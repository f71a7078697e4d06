package report

import (
	"github.com/cardprograms/prepaid/internal/ascii"
)

// skipValue reads and discards a value of any kind. depth is how many arrays and objects enclose the value.
func (d *Decoder) skipValue(depth int) error {
	c, err := d.peekToken()
	if err != nil {
		return err
	}
	switch {
	case c == '"':
		_, err = d.shortString(nil)
		return err
	case c == '{', c == '[':
		if depth >= maxDepth {
			return d.malformed("nested too deep")
		}
		d.pos++
		return d.skipElements(c == '{', depth+1)
	case c == 't':
		return d.literal("true")
	case c == 'f':
		return d.literal("false")
	case c == 'n':
		return d.literal("null")
	case ascii.IsDigit(c) || c == '-':
		_, err = d.number(nil)
		return err
	}
	return d.malformed("want a value")
}

// skipElements reads and discards the rest of an array or object, after its opening bracket.
func (d *Decoder) skipElements(object bool, depth int) error {
	last := byte(']')
	if object {
		last = '}'
	}
	c, err := d.peekToken()
	if err != nil {
		return err
	}
	if c == last {
		d.pos++
		return nil
	}
	for {
		if object {
			if _, err := d.shortString(nil); err != nil {
				return err
			}
			if err := d.expect(':'); err != nil {
				return err
			}
		}
		if err := d.skipValue(depth); err != nil {
			return err
		}
		if c, err = d.peekToken(); err != nil {
			return err
		}
		switch c {
		case last:
			d.pos++
			return nil
		case ',':
			d.pos++
		default:
			return d.malformed("want a comma or a closing bracket")
		}
	}
}

// shortString reads a string and stores as much of it as fits into keep. If the result fills keep, the string may be
// longer: the capacity of keep must be one byte more than the longest string of interest.
func (d *Decoder) shortString(keep []byte) ([]byte, error) {
	if err := d.expect('"'); err != nil {
		return nil, err
	}
	var chunk [256]byte
	for {
		n, closed, err := d.unescape(chunk[:], nil)
		if err != nil {
			return nil, err
		}
		keep = append(keep, chunk[:min(n, cap(keep)-len(keep))]...)
		if closed {
			return keep, nil
		}
	}
}

// number reads a number in JSON's grammar and stores as much of it as fits into keep, like shortString.
func (d *Decoder) number(keep []byte) ([]byte, error) {
	take := func() {
		if len(keep) < cap(keep) {
			keep = append(keep, d.buf[d.pos])
		}
		d.pos++
	}
	digits := func() error {
		if c, err := d.peek(); err != nil {
			return err
		} else if !ascii.IsDigit(c) {
			return d.malformed("want a digit")
		}
		for d.need(1) && ascii.IsDigit(d.buf[d.pos]) {
			take()
		}
		return nil
	}
	if c, err := d.peek(); err != nil {
		return nil, err
	} else if c == '-' {
		take()
	}
	if d.need(1) && d.buf[d.pos] == '0' {
		take()
	} else if err := digits(); err != nil {
		return nil, err
	}
	if d.need(1) && d.buf[d.pos] == '.' {
		take()
		if err := digits(); err != nil {
			return nil, err
		}
	}
	if d.need(1) && d.buf[d.pos]|0x20 == 'e' {
		take()
		if d.need(1) && (d.buf[d.pos] == '+' || d.buf[d.pos] == '-') {
			take()
		}
		if err := digits(); err != nil {
			return nil, err
		}
	}
	return keep, nil
}

func (d *Decoder) literal(word string) error {
	for i := range len(word) {
		c, err := d.peek()
		if err != nil {
			return err
		}
		if c != word[i] {
			return d.malformed("want a value")
		}
		d.pos++
	}
	return nil
}
