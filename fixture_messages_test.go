package prepaid

import (
	"bytes"
	"context"
	"encoding/json"
	"time"
)

func messageFixtures() []fixtureCase {
	list := func(paging Paging) fixtureCall[*Page[Message]] {
		return fixtureOf("Hooks.Undeliverable", func(ctx context.Context, client *Client) (*Page[Message], error) {
			page, err := fixturePage(client.Hooks.UndeliverablePage(ctx, fixtureHookID, ListUndeliverableParams{Paging: paging}))
			if err != nil {
				return nil, err
			}
			for i := range page.Items {
				compactMessage(&page.Items[i])
			}
			return page, nil
		})
	}
	all := fixtureOf("Hooks.Undeliverable", func(ctx context.Context, client *Client) ([]*Message, error) {
		messages, err := Collect(client.Hooks.Undeliverable(ctx, fixtureHookID, ListUndeliverableParams{}), 10)
		for _, message := range messages {
			compactMessage(message)
		}
		return messages, err
	})
	dismiss := fixtureDo("Hooks.Dismiss", func(ctx context.Context, client *Client) error {
		return client.Hooks.Dismiss(ctx, fixtureHookID, "msg-3001", "msg-3002")
	})
	second := list(Paging{Page: 2, Size: 10})
	const payload = `,"transaction":{"id":"8800001002","amount":-25.50,"cardholder":"Canary-Mira"}`
	return concat(second.usual(CodeUnauthorized, OutcomeNotProcessed), dismiss.usual(CodeUnauthorized, OutcomeUnknown),
		[]fixtureCase{
			second.gives("200", &Page[Message]{
				Items: []Message{
					fixtureMessage("msg-3001", MessageTypeTransaction, payload), fixtureMessage("msg-3002", "from_a_later_version", payload),
				},
				Number: 2, Size: 10, TotalPages: 2, TotalItems: 12,
			}),
			all.gives("200-single-page", []*Message{new(fixtureMessage("msg-3001", MessageTypeTransaction, ""))}),
			list(Paging{}).gives("204", &Page[Message]{Number: 1}),
			second.refused("400-invalid_hook_id", CodeInvalidHookID, ErrBadRequest, OutcomeRejected),
			dismiss.gives("204", struct{}{}),
			dismiss.refused("400-invalid_request", CodeInvalidRequest, ErrBadRequest, OutcomeRejected),
			dismiss.refused("400-invalid_hook_id", CodeInvalidHookID, ErrBadRequest, OutcomeRejected),
			dismiss.refused("400-invalid_message_id", CodeInvalidMessageID, ErrBadRequest, OutcomeRejected),
		})
}

// fixtureMessage is a message whose raw text is its envelope and the payload.
func fixtureMessage(id string, kind MessageType, payload string) Message {
	return Message{
		ID: id, HookID: fixtureHookID, Timestamp: fixtureTime(2026, time.November, 19, 20, 21, 22), Type: kind,
		Raw: json.RawMessage(`{"id":"` + id + `","hook_id":"` + fixtureHookID +
			`","timestamp":"2026-11-19T20:21:22Z","type":"` + string(kind) + `"` + payload + `}`),
	}
}

// compactMessage takes the file's indentation out of the raw text.
func compactMessage(m *Message) {
	var compact bytes.Buffer
	if json.Compact(&compact, m.Raw) == nil {
		m.Raw = compact.Bytes()
	}
}
