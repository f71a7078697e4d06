package prepaidtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// faultForms lists what parseFault reads, one form a line with what it does, then the modifiers.
func faultForms() []string {
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

// String is the form that parseFault reads, for example "answer 503 x3".
func (f requestFault) String() string {
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

// parseFault reads a fault in one of the faultForms, for example "commit-then-drop", "answer 400 invalid_request"
// or "too-many-requests 2s x3". Words with spaces are quoted as in Go. Its errors name the word and the rule.
func parseFault(text string) (requestFault, error) {
	var f requestFault
	words, err := splitWords(text)
	if err != nil {
		return requestFault{}, fmt.Errorf("prepaidtest: fault: %w", err)
	}
	p := &wordParser{words: words}
	kind, known := kindOf(p.next("the name"), faultWords())
	if !known {
		return requestFault{}, errors.New("prepaidtest: fault: no such name; see FaultForms")
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
		return requestFault{}, fmt.Errorf("prepaidtest: fault %s: %w", faultWords()[kind], p.err)
	}
	return f, nil
}
