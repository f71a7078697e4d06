package webhook

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Decoded makes a function for [Config] out of one that takes a payload of your own type, since the reference does not
// show what a message holds beyond its envelope. T is read from the whole message, as [prepaid.Message.Decode] does, anew
// for each; members that it lacks are passed over. A message that does not fit is a *[prepaid.DecodeError], answered with
// 500, and handle does not see it: it is not acknowledged, so that it can be looked at among the undeliverable ones.
func Decoded[T any](handle func(ctx context.Context, m *prepaid.Message, payload T) error) func(context.Context, *prepaid.Message) error {
	return func(ctx context.Context, m *prepaid.Message) error {
		var payload T
		if err := m.Decode(&payload); err != nil {
			return err
		}
		return handle(ctx, m, payload)
	}
}
