package faults

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func deliveryWords() map[DeliveryKind]string {
	return map[DeliveryKind]string{
		DeliverNormally: "nothing", Duplicate: "duplicate-message", Lose: "lose-message",
		LoseResponse: "lose-response", Hold: "delay-message",
	}
}

// DeliveryForms lists the forms that ParseDelivery reads, each with its effect, then the modifiers.
func DeliveryForms() []string {
	return append(append([]string{
		"duplicate-message COPIES: send, then send this many times again",
		"lose-message: never send, and count as delivered",
		"lose-response: send, and count as failed",
		"delay-message DURATION: hold back on the server's clock while others overtake",
		"nothing: send and count",
	}, scheduleForms()...), "... pings: for pings too")
}

// String is the form that ParseDelivery reads, for example "duplicate-message 2 always".
func (f Delivery) String() string {
	words := []string{deliveryWords()[f.Kind]}
	switch f.Kind {
	case Duplicate:
		words = append(words, strconv.Itoa(f.Copies))
	case Hold:
		words = append(words, f.Wait.String())
	}
	words = append(words, f.Schedule.words()...)
	if f.Pings {
		words = append(words, "pings")
	}
	return strings.Join(words, " ")
}

// ParseDelivery reads a fault in one of the DeliveryForms, for example "lose-response x2". Its errors name
// the wrong word and the broken rule.
func ParseDelivery(text string) (Delivery, error) {
	var f Delivery
	words, err := splitWords(text)
	if err != nil {
		return f, fmt.Errorf("prepaidtest: delivery fault: %w", err)
	}
	p := &wordParser{words: words}
	kind, known := kindOf(p.next("the name"), deliveryWords())
	if !known {
		return f, errors.New("prepaidtest: delivery fault: " + unknownName(DeliveryForms()))
	}
	f.Kind = kind
	switch kind {
	case Duplicate:
		f.Copies = p.integer("the copies")
	case Hold:
		f.Wait = p.duration("the duration")
	}
	p.schedule(&f.Schedule, &f.Pings)
	if p.err == nil {
		p.err = f.Check()
	}
	if p.err != nil {
		return Delivery{}, fmt.Errorf("prepaidtest: delivery fault %s: %w", deliveryWords()[kind], p.err)
	}
	return f, nil
}
