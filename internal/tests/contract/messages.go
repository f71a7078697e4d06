package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/cardprograms/prepaid"
)

func messageFixtures() []Case {
	list := func(paging prepaid.Paging) fixtureCall[*prepaid.Page[prepaid.Message]] {
		return fixtureOf("Hooks.Undeliverable", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Message], error) {
			page, err := fixturePage(client.Hooks.UndeliverablePage(ctx, fixtureHookID, paging))
			if err != nil {
				return nil, err
			}
			for i := range page.Items {
				page.Items[i].Raw = compacted(page.Items[i].Raw)
			}
			return page, nil
		})
	}
	all := fixtureOf("Hooks.Undeliverable", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.Message, error) {
		messages, err := prepaid.Collect(client.Hooks.Undeliverable(ctx, fixtureHookID, prepaid.Paging{}), 10)
		for _, message := range messages {
			message.Raw = compacted(message.Raw)
		}
		return messages, err
	})
	dismiss := fixtureWith[struct{}]("Hooks.Dismiss", fixtureHookID, prepaid.MessageID("msg-3001"), prepaid.MessageID("msg-3002"))
	second := list(prepaid.Paging{Page: 2, Size: 10})
	const payload = `,"transaction":{"id":"8800001002","amount":-25.50,"cardholder":"Canary-Mira"}`
	return concat(second.usual(prepaid.CodeUnauthorized, prepaid.OutcomeNotProcessed), dismiss.usual(prepaid.CodeUnauthorized, prepaid.OutcomeUnknown),
		[]Case{
			second.gives("200", &prepaid.Page[prepaid.Message]{
				Items: []prepaid.Message{
					fixtureMessage("msg-3001", prepaid.MessageTypeTransaction, payload), fixtureMessage("msg-3002", "from_a_later_version", payload),
				},
				Number: 2, Size: 10, TotalPages: 2, TotalItems: 12,
			}),
			all.gives("200-single-page", []*prepaid.Message{new(fixtureMessage("msg-3001", prepaid.MessageTypeTransaction, ""))}),
			list(prepaid.Paging{}).gives("204", &prepaid.Page[prepaid.Message]{Number: 1}),
			second.refused("400-invalid_hook_id", prepaid.CodeInvalidHookID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
			dismiss.gives("204", struct{}{}),
			dismiss.refused("400-invalid_request", prepaid.CodeInvalidRequest, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
			dismiss.refused("400-invalid_hook_id", prepaid.CodeInvalidHookID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
			dismiss.refused("400-invalid_message_id", prepaid.CodeInvalidMessageID, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		})
}

// fixtureMessage returns a message. Its raw text has the members of the envelope, then the payload.
func fixtureMessage(id string, kind prepaid.MessageType, payload string) prepaid.Message {
	return prepaid.Message{
		ID: prepaid.MessageID(id), HookID: fixtureHookID, Timestamp: fixtureTime(2026, time.November, 19, 20, 21, 22), Type: kind,
		Raw: json.RawMessage(`{"id":"` + id + `","hook_id":"` + string(fixtureHookID) +
			`","timestamp":"2026-11-19T20:21:22Z","type":"` + string(kind) + `"` + payload + `}`),
	}
}

// compacted removes the indentation of the fixture's file.
func compacted(raw []byte) []byte {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return raw
	}
	return compact.Bytes()
}
