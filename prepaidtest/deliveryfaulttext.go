package prepaidtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func deliveryFaultWords() map[deliveryFaultKind]string {
	return map[deliveryFaultKind]string{
		deliveryFaultNone: "nothing", deliveryFaultDuplicate: "duplicate-message", deliveryFaultLose: "lose-message",
		deliveryFaultLoseAnswer: "lose-answer", deliveryFaultDelay: "delay-message",
	}
}

// messageFaultForms lists what parseMessageFault reads, one form a line with what it does, then the modifiers.
func messageFaultForms() []string {
	return append(append([]string{
		"duplicate-message COPIES: send, then send this many times again",
		"lose-message: never send, and count as delivered",
		"lose-answer: send, and count as failed",
		"delay-message DURATION: hold back on the server's clock while others overtake",
		"nothing: send and count",
	}, scheduleForms()...), "... pings: for pings too")
}

// String is the form that parseMessageFault reads, for example "duplicate-message 2 always".
func (f messageFault) String() string {
	words := []string{deliveryFaultWords()[f.kind]}
	switch f.kind {
	case deliveryFaultDuplicate:
		words = append(words, strconv.Itoa(f.copies))
	case deliveryFaultDelay:
		words = append(words, f.wait.String())
	}
	words = append(words, f.schedule.words()...)
	if f.pings {
		words = append(words, "pings")
	}
	return strings.Join(words, " ")
}

// parseMessageFault reads a fault in one of the messageFaultForms, for example "lose-answer x2". Its errors name
// the word and the rule.
func parseMessageFault(text string) (messageFault, error) {
	var f messageFault
	words, err := splitWords(text)
	if err != nil {
		return f, fmt.Errorf("prepaidtest: delivery fault: %w", err)
	}
	p := &wordParser{words: words}
	kind, known := kindOf(p.next("the name"), deliveryFaultWords())
	if !known {
		return f, errors.New("prepaidtest: delivery fault: no such name; see DeliveryFaultForms")
	}
	f.kind = kind
	switch kind {
	case deliveryFaultDuplicate:
		f.copies = p.integer("the copies")
	case deliveryFaultDelay:
		f.wait = p.duration("the duration")
	}
	p.schedule(&f.schedule, &f.pings)
	if p.err == nil {
		p.err = f.check()
	}
	if p.err != nil {
		return messageFault{}, fmt.Errorf("prepaidtest: delivery fault %s: %w", deliveryFaultWords()[kind], p.err)
	}
	return f, nil
}
