package faults

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

func (s Schedule) words() []string {
	var words []string
	switch {
	case s.counted:
		words = append(words, "x"+strconv.Itoa(s.times))
	case s.always:
		words = append(words, "always")
	}
	if s.chanced {
		words = append(words, "p"+strconv.FormatFloat(s.chance, 'g', -1, 64))
	}
	return words
}

// word is a part of a text. A quoted word is not a modifier.
type word struct {
	text   string
	quoted bool
}

func (w word) modifier() bool {
	if w.quoted || w.text == "" {
		return false
	}
	if w.text == "always" || w.text == pings || w.text == commitAfter {
		return true
	}
	rest := w.text[1:]
	return (w.text[0] == 'x' || w.text[0] == 'p') && rest != "" && strings.Trim(rest, "0123456789.e+-") == ""
}

// quoteWord quotes text that would not be read back as one plain word.
func quoteWord(text string) string {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) || (word{text: text}).modifier() {
		return strconv.Quote(text)
	}
	return text
}

func splitWords(text string) ([]word, error) {
	var words []word
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		if text[0] != '"' {
			end := strings.IndexAny(text+" ", " \t")
			words, text = append(words, word{text: text[:end]}), text[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, errors.New("a quoted word does not end")
		}
		plain, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, errors.New("a quoted word cannot be read")
		}
		words, text = append(words, word{plain, true}), text[len(quoted):]
	}
	return words, nil
}

// wordParser removes the words in order and keeps the first error.
type wordParser struct {
	words []word
	err   error
}

func (p *wordParser) more() bool { return len(p.words) > 0 && !p.words[0].modifier() }

// take removes the next word if that word equals text.
func (p *wordParser) take(text string) bool {
	if len(p.words) == 0 || p.words[0] != (word{text: text}) {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *wordParser) fail(rule string) {
	if p.err == nil {
		p.err = errors.New(rule)
	}
}

func (p *wordParser) next(name string) string {
	if !p.more() {
		p.fail(name + " is missing")
		return ""
	}
	return p.optional()
}

func (p *wordParser) optional() string {
	if !p.more() {
		return ""
	}
	text := p.words[0].text
	p.words = p.words[1:]
	return text
}

func (p *wordParser) integer(name string) int {
	number, err := strconv.Atoi(p.next(name))
	if err != nil {
		p.fail(name + " must be a whole number")
	}
	return number
}

func (p *wordParser) duration(name string) time.Duration {
	d, err := time.ParseDuration(p.next(name))
	if err != nil {
		p.fail(name + " must be like 250ms or 2s")
	}
	return d
}

// argument reads an argument of a form.
func (p *wordParser) argument(f *Fault, name string) {
	switch name {
	case "STATUS":
		f.Status = p.integer("the status")
	case "COPIES":
		f.Copies = p.integer("the copies")
	case `"TYPE"`:
		f.ContentType = p.next("the type")
	case `"BODY"`:
		f.Body = p.next("the body")
	case "[CODE]":
		f.Code = p.optional()
	case "[RETRY-AFTER]":
		if p.more() {
			f.Wait = p.duration("the duration")
		}
	default:
		f.Wait = p.duration("the duration")
	}
}

// modifiers reads the modifiers, of a fault of requests or of deliveries.
func (p *wordParser) modifiers(f *Fault, request bool) {
	if f.Late = request && p.take(commitAfter); f.Late {
		f.After = p.duration("the duration of commit-after")
	}
	for s := &f.Schedule; len(p.words) > 0 && p.words[0].modifier(); p.words = p.words[1:] {
		switch text := p.words[0].text; {
		case text == pings && !request && !f.Pings:
			f.Pings = true
		case text == "always" && !s.counted && !s.always:
			s.Forever()
		case text[0] == 'x' && !s.counted && !s.always:
			n, err := strconv.Atoi(text[1:])
			if err != nil {
				p.fail("xN must have a whole number")
			}
			s.Repeat(n)
		case text[0] == 'p' && text != pings && !s.chanced:
			chance, err := strconv.ParseFloat(text[1:], 64)
			if err != nil {
				p.fail("pP must have a number")
			}
			s.Sometimes(chance)
		default:
			p.fail("a modifier is repeated, contradicts another or is not for this")
		}
	}
	if len(p.words) > 0 {
		p.fail("there is a word too many")
	}
}
