package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// kindWords are the names of the kinds in text.
func kindWords() map[Kind]string {
	return map[Kind]string{
		None: "nothing", CommitThenDrop: "commit-then-drop", DropBeforeCommit: "drop-before-commit",
		Respond: "respond", RespondWith: "respond-body", Delay: "delay", Truncate: "truncate",
		ProxyPage: "proxy-page", ContentType: "content-type",
		TooMany: "too-many-requests", ExpireToken: "expire-token",
	}
}

// Forms lists the forms that Parse reads, each with its effect, then the modifiers.
func Forms() []string {
	return append([]string{
		"commit-then-drop: carry out, then cut the connection without a response",
		"drop-before-commit: cut the connection, nothing carried out",
		"respond STATUS [CODE]: respond with an error body, nothing carried out",
		`respond-body STATUS "TYPE" "BODY": respond with these bytes, nothing carried out`,
		"proxy-page STATUS: respond with the HTML page of a proxy, nothing carried out",
		"too-many-requests [RETRY-AFTER]: respond with 429, with Retry-After when a duration is given",
		"expire-token: make the token of the request invalid and respond with 401",
		"delay DURATION: wait before carrying out",
		"truncate: carry out, then cut the connection in the middle of the response",
		`content-type "TYPE": carry out, then send the response under another Content-Type; "" sends none`,
		"nothing: carry out and count",
		"... commit-after DURATION: of a fault with nothing carried out: carry out all the same, this much later",
	}, scheduleForms()...)
}

// commitAfter is the word for the modifier CommitAfter.
const commitAfter = "commit-after"

func scheduleForms() []string {
	return []string{
		"... xN: for N requests or deliveries instead of one",
		"... always: until removed",
		"... pP: with probability P above 0 and at most 1; without xN until removed",
	}
}

// String is the form that Parse reads, for example "respond 503 x3".
func (f Fault) String() string {
	words := []string{kindWords()[f.Kind]}
	switch f.Kind {
	case Respond:
		words = append(words, strconv.Itoa(f.Status))
		if f.Code != "" {
			words = append(words, quoteWord(f.Code))
		}
	case RespondWith:
		words = append(words, strconv.Itoa(f.Status), strconv.Quote(f.ContentType), strconv.Quote(f.Body))
	case ProxyPage:
		words = append(words, strconv.Itoa(f.Status))
	case ContentType:
		words = append(words, strconv.Quote(f.ContentType))
	case Delay:
		words = append(words, f.Wait.String())
	case TooMany:
		if f.Wait != 0 {
			words = append(words, f.Wait.String())
		}
	}
	if f.Late {
		words = append(words, commitAfter, f.After.String())
	}
	return strings.Join(append(words, f.Schedule.words()...), " ")
}

// Form is the text of the fault without its schedule. The parameter sent replaces the fault's own body.
func (f Fault) Form(sent string) string {
	once := f
	once.Schedule = Schedule{}
	if once.Kind == RespondWith {
		once.Body = sent
	}
	return once.String()
}

// Parse reads a fault in one of the Forms, for example "commit-then-drop", "respond 400 invalid_request"
// or "too-many-requests 2s x3". Words with spaces are quoted as in Go. Errors name the wrong word and the broken rule.
func Parse(text string) (Fault, error) {
	var f Fault
	words, err := splitWords(text)
	if err != nil {
		return Fault{}, fmt.Errorf("prepaidtest: fault: %w", err)
	}
	p := &wordParser{words: words}
	kind, known := kindOf(p.next("the name"), kindWords())
	if !known {
		return Fault{}, errors.New("prepaidtest: fault: " + unknownName(Forms()))
	}
	f.Kind = kind
	switch kind {
	case Respond:
		f.Status, f.Code = p.integer("the status"), p.optional()
	case RespondWith:
		f.Status, f.ContentType, f.Body = p.integer("the status"), p.next("the type"), p.next("the body")
	case ProxyPage:
		f.Status = p.integer("the status")
	case ContentType:
		f.ContentType = p.next("the type")
	case Delay:
		f.Wait = p.duration("the duration")
	case TooMany:
		if p.more() {
			f.Wait = p.duration("the duration")
		}
	}
	if f.Late = p.take(commitAfter); f.Late {
		f.After = p.duration("the duration of commit-after")
	}
	p.schedule(&f.Schedule, nil)
	if p.err == nil {
		p.err = f.Check()
	}
	if p.err != nil {
		return Fault{}, fmt.Errorf("prepaidtest: fault %s: %w", kindWords()[kind], p.err)
	}
	return f, nil
}
