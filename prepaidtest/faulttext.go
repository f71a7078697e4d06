package prepaidtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// faultWords are the names of the kinds in text.
func faultWords() map[faultKind]string {
	return map[faultKind]string{
		faultNone: "nothing", faultCommitThenDrop: "commit-then-drop", faultDropBeforeCommit: "drop-before-commit",
		faultAnswer: "answer", faultAnswerBody: "answer-body", faultDelay: "delay", faultTruncate: "truncate",
		faultSlowBody: "slow-body", faultProxyPage: "proxy-page", faultContentType: "content-type",
		faultWrongLength: "wrong-length", faultTooMany: "too-many-requests", faultExpireToken: "expire-token",
	}
}

// FaultForms lists what ParseFault reads, one form a line with what it does, then the modifiers.
func FaultForms() []string {
	return append([]string{
		"commit-then-drop: carry out, then cut the connection without an answer",
		"drop-before-commit: cut the connection, nothing carried out",
		"answer STATUS [CODE]: answer with an error body, nothing carried out",
		`answer-body STATUS "TYPE" "BODY": answer with these bytes, nothing carried out`,
		"proxy-page STATUS: answer with the HTML page of a proxy, nothing carried out",
		"too-many-requests [RETRY-AFTER]: answer 429, with Retry-After when a duration is given",
		"expire-token: make the token of the request invalid and answer 401",
		"delay DURATION: wait before carrying out",
		"truncate: carry out, then cut the connection in the middle of the answer",
		"slow-body PAUSE: carry out, then send the answer 16 bytes at a time with a pause between",
		`content-type "TYPE": carry out, then send the answer under another Content-Type; "" sends none`,
		"wrong-length DELTA: carry out, then announce this many bytes more or, below zero, fewer than are sent",
		"nothing: carry out and count",
		"... commit-after DURATION: of a fault with nothing carried out: carry out all the same, this much later",
	}, scheduleForms()...)
}

// commitAfter is the word for CommitAfter.
const commitAfter = "commit-after"

func scheduleForms() []string {
	return []string{
		"... xN: for N requests or deliveries instead of one",
		"... always: until removed",
		"... pP: with probability P above 0 and at most 1; without xN until removed",
	}
}

// String is the form that ParseFault reads, for example "answer 503 x3".
func (f Fault) String() string {
	words := []string{faultWords()[f.kind]}
	switch f.kind {
	case faultAnswer:
		words = append(words, strconv.Itoa(f.status))
		if f.code != "" {
			words = append(words, quoteWord(f.code))
		}
	case faultAnswerBody:
		words = append(words, strconv.Itoa(f.status), strconv.Quote(f.contentType), strconv.Quote(f.body))
	case faultProxyPage:
		words = append(words, strconv.Itoa(f.status))
	case faultContentType:
		words = append(words, strconv.Quote(f.contentType))
	case faultWrongLength:
		words = append(words, fmt.Sprintf("%+d", f.delta))
	case faultDelay, faultSlowBody:
		words = append(words, f.wait.String())
	case faultTooMany:
		if f.wait != 0 {
			words = append(words, f.wait.String())
		}
	}
	if f.late {
		words = append(words, commitAfter, f.after.String())
	}
	return strings.Join(append(words, f.schedule.words()...), " ")
}

// ParseFault reads a fault in one of the FaultForms, for example "commit-then-drop", "answer 400 invalid_request"
// or "too-many-requests 2s x3". Words with spaces are quoted as in Go. Its errors name the word and the rule.
func ParseFault(text string) (Fault, error) {
	var f Fault
	words, err := splitWords(text)
	if err != nil {
		return Fault{}, fmt.Errorf("prepaidtest: fault: %w", err)
	}
	p := &wordParser{words: words}
	kind, known := kindOf(p.next("the name"), faultWords())
	if !known {
		return Fault{}, errors.New("prepaidtest: fault: no such name; see FaultForms")
	}
	f.kind = kind
	switch kind {
	case faultAnswer:
		f.status, f.code = p.integer("the status"), p.optional()
	case faultAnswerBody:
		f.status, f.contentType, f.body = p.integer("the status"), p.next("the type"), p.next("the body")
	case faultProxyPage:
		f.status = p.integer("the status")
	case faultContentType:
		f.contentType = p.next("the type")
	case faultWrongLength:
		f.delta = p.integer("the length")
	case faultDelay, faultSlowBody:
		f.wait = p.duration("the duration")
	case faultTooMany:
		if p.more() {
			f.wait = p.duration("the duration")
		}
	}
	if f.late = p.take(commitAfter); f.late {
		f.after = p.duration("the duration of commit-after")
	}
	p.schedule(&f.schedule, nil)
	if p.err == nil {
		p.err = f.check()
	}
	if p.err != nil {
		return Fault{}, fmt.Errorf("prepaidtest: fault %s: %w", faultWords()[kind], p.err)
	}
	return f, nil
}

func kindOf[K comparable](name string, words map[K]string) (K, bool) {
	for kind, word := range words {
		if word == name {
			return kind, true
		}
	}
	return *new(K), false
}

func (s schedule) words() []string {
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

// word is a part of a text; a quoted one is never a modifier.
type word struct {
	text   string
	quoted bool
}

func (w word) modifier() bool {
	if w.quoted || w.text == "" {
		return false
	}
	if w.text == "always" || w.text == "pings" || w.text == commitAfter {
		return true
	}
	rest := w.text[1:]
	return (w.text[0] == 'x' || w.text[0] == 'p') && rest != "" && strings.Trim(rest, "0123456789.e+-") == ""
}

// quoteWord quotes what would otherwise not be read back as one plain word.
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

// wordParser takes one word after the other and keeps the first error.
type wordParser struct {
	words []word
	err   error
}

func (p *wordParser) more() bool { return len(p.words) > 0 && !p.words[0].modifier() }

// take takes the next word when it is this one.
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

// schedule reads the modifiers at the end; pings is nil where there is no such word.
func (p *wordParser) schedule(s *schedule, pings *bool) {
	for ; len(p.words) > 0 && p.words[0].modifier(); p.words = p.words[1:] {
		switch text := p.words[0].text; {
		case text == "pings" && pings != nil && !*pings:
			*pings = true
		case text == "always" && !s.counted && !s.always:
			s.forever()
		case text[0] == 'x' && !s.counted && !s.always:
			n, err := strconv.Atoi(text[1:])
			if err != nil {
				p.fail("xN must have a whole number")
			}
			s.repeat(n)
		case text[0] == 'p' && text != "pings" && !s.chanced:
			chance, err := strconv.ParseFloat(text[1:], 64)
			if err != nil {
				p.fail("pP must have a number")
			}
			s.sometimes(chance)
		default:
			p.fail("a modifier is repeated, contradicts another or is not for this")
		}
	}
	if len(p.words) > 0 {
		p.fail("there is a word too many")
	}
}
