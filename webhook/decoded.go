package webhook

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Decoded turns a function that takes a payload of your own type into a function for [Config], since the reference does
// not show the contents of a message beyond its envelope. T is decoded from the whole message, as by
// [prepaid.Message.Decode], into a new value for each message; members that T does not have are ignored. If a message
// does not fit, handle is not called, and the *[prepaid.DecodeError] leads to a 500: the message is not acknowledged,
// so it can be inspected among the undeliverable messages.
func Decoded[T any](handle func(ctx context.Context, m *prepaid.Message, payload T) error) func(context.Context, *prepaid.Message) error {
	return func(ctx context.Context, m *prepaid.Message) error {
		var payload T
		if err := m.Decode(&payload); err != nil {
			return err
		}
		return handle(ctx, m, payload)
	}
}
