package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// form is the text of a kind: its name with arguments, and its effect. An argument in brackets is optional.
type form struct {
	kind         Kind
	text, effect string
}

func (f form) name() string { return strings.Fields(f.text)[0] }

func (f form) arguments() []string { return strings.Fields(f.text)[1:] }

func requestForms() []form {
	return []form{
		{CommitThenDrop, "commit-then-drop", "carry out, then cut the connection without a response"},
		{DropBeforeCommit, "drop-before-commit", "cut the connection, nothing carried out"},
		{Respond, "respond STATUS [CODE]", "respond with an error body, nothing carried out"},
		{RespondWith, `respond-body STATUS "TYPE" "BODY"`, "respond with these bytes, nothing carried out"},
		{ProxyPage, "proxy-page STATUS", "respond with the HTML page of a proxy, nothing carried out"},
		{TooMany, "too-many-requests [RETRY-AFTER]", "respond with 429, with Retry-After when a duration is given"},
		{ExpireToken, "expire-token", "make the token of the request invalid and respond with 401"},
		{Delay, "delay DURATION", "wait before carrying out"},
		{Truncate, "truncate", "carry out, then cut the connection in the middle of the response"},
		{ContentType, `content-type "TYPE"`, `carry out, then send the response under another Content-Type; "" sends none`},
		{None, "nothing", "carry out and count"},
	}
}

func deliveryForms() []form {
	return []form{
		{Duplicate, "duplicate-message COPIES", "send, then send this many times again"},
		{Lose, "lose-message", "never send, and count as delivered"},
		{LoseResponse, "lose-response", "send, and count as failed"},
		{Hold, "delay-message DURATION", "hold back on the server's clock while others overtake"},
		{None, "nothing", "send and count"},
	}
}

// The modifiers that only one sort of faults has.
const commitAfter, pings = "commit-after", "pings"

// Forms lists the forms that Parse reads, each with its effect, then the modifiers.
func Forms() []string {
	return listed(requestForms(), "... commit-after DURATION: of a fault with nothing carried out: carry out all the same, this much later")
}

// DeliveryForms lists the forms that ParseDelivery reads, each with its effect, then the modifiers.
func DeliveryForms() []string { return listed(deliveryForms(), "... pings: for pings too") }

func listed(forms []form, modifier string) []string {
	var lines []string
	for _, f := range forms {
		lines = append(lines, f.text+": "+f.effect)
	}
	return append(
		lines, modifier, "... xN: for N requests or deliveries instead of one", "... always: until removed",
		"... pP: with probability P above 0 and at most 1; without xN until removed",
	)
}

// String is the form that Parse or ParseDelivery reads, for example "respond 503 x3".
func (f Fault) String() string {
	var words []string
	for _, form := range append(requestForms(), deliveryForms()...) {
		if form.kind == f.Kind && words == nil {
			words = append(words, form.name())
			for _, argument := range form.arguments() {
				words = append(words, f.argument(argument)...)
			}
		}
	}
	if f.Late {
		words = append(words, commitAfter, f.After.String())
	}
	words = append(words, f.Schedule.words()...)
	if f.Pings {
		words = append(words, pings)
	}
	return strings.Join(words, " ")
}

// argument returns the text of an argument; none for an optional argument that is absent.
func (f Fault) argument(name string) []string {
	switch name {
	case "STATUS":
		return []string{strconv.Itoa(f.Status)}
	case "COPIES":
		return []string{strconv.Itoa(f.Copies)}
	case `"TYPE"`:
		return []string{strconv.Quote(f.ContentType)}
	case `"BODY"`:
		return []string{strconv.Quote(f.Body)}
	case "[CODE]":
		if f.Code == "" {
			return nil
		}
		return []string{quoteWord(f.Code)}
	case "[RETRY-AFTER]":
		if f.Wait == 0 {
			return nil
		}
	}
	return []string{f.Wait.String()}
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
func Parse(text string) (Fault, error) { return parse("fault", requestForms(), text) }

// ParseDelivery reads a fault in one of the DeliveryForms, for example "lose-response x2".
func ParseDelivery(text string) (Fault, error) { return parse("delivery fault", deliveryForms(), text) }

func parse(sort string, forms []form, text string) (Fault, error) {
	words, err := splitWords(text)
	if err != nil {
		return Fault{}, fmt.Errorf("prepaidtest: %s: %w", sort, err)
	}
	p := &wordParser{words: words}
	name := p.next("the name")
	var names []string
	for _, form := range forms {
		if form.name() != name {
			names = append(names, form.name())
			continue
		}
		f := Fault{Kind: form.kind}
		for _, argument := range form.arguments() {
			p.argument(&f, argument)
		}
		p.modifiers(&f, sort == "fault")
		if p.err == nil {
			p.err = f.Check()
		}
		if p.err != nil {
			return Fault{}, fmt.Errorf("prepaidtest: %s %s: %w", sort, name, p.err)
		}
		return f, nil
	}
	return Fault{}, errors.New("prepaidtest: " + sort + ": the name is unknown; known are " + strings.Join(names, ", "))
}
