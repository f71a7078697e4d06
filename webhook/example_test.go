package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

// A message is verified, handled once, and acknowledged if it arrives again; a forged one is refused.
func ExampleHandler() {
	verifier := webhook.HMAC{ // ask the operator for header, encoding and key form
		Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded,
		Keys: webhook.StaticKeys{"k1": prepaid.NewSecret(strings.Repeat("0f", 32))},
	}
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: verifier,
		OnTransaction: func(_ context.Context, m *prepaid.Message) error {
			fmt.Println("handled", m.ID)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	const body = `{"id":"m1","hook_id":"h1","timestamp":"2026-03-01T10:00:00Z","type":"transaction"}`
	deliver := func(sign bool) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		if sign {
			if err := verifier.Sign(r.Header, "k1", []byte(body)); err != nil {
				fmt.Println(err)
			}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println("responded", w.Code)
	}
	deliver(true)
	deliver(true) // the service did not receive the first response
	deliver(false)
	// Output:
	// handled m1
	// responded 200
	// responded 200
	// responded 401
}

// outbox stands for client.Hooks.
type outbox struct{ messages []prepaid.Message }

func (o *outbox) UndeliverablePage(context.Context, prepaid.HookID, prepaid.Paging) (*prepaid.Page[prepaid.Message], error) {
	return &prepaid.Page[prepaid.Message]{Number: 1, TotalPages: 1, Items: slices.Clone(o.messages)}, nil
}

func (o *outbox) Dismiss(_ context.Context, _ prepaid.HookID, ids ...prepaid.MessageID) error {
	o.messages = slices.DeleteFunc(o.messages, func(m prepaid.Message) bool { return slices.Contains(ids, m.ID) })
	return nil
}

// Messages that could not be delivered are handled later. A message that the function refuses stays stored.
func ExampleDrain() {
	hooks := &outbox{[]prepaid.Message{{ID: "m1"}, {ID: "m2"}, {ID: "m3"}}}
	handled, err := webhook.Drain(context.Background(), hooks, "h1", func(_ context.Context, m *prepaid.Message) error {
		if m.ID == "m2" {
			return errors.New("database is busy")
		}
		return nil
	})
	fmt.Println(handled, err)
	fmt.Println("still stored:", len(hooks.messages))
	// Output:
	// 2 webhook: message "m2": database is busy
	// still stored: 1
}

// Changing a key manually. Ensure with RotateIn does the same together with the hook.
func ExampleKeys() {
	oldKey, newKey := prepaid.NewSecret(strings.Repeat("0f", 32)), prepaid.NewSecret(strings.Repeat("f0", 32))
	keys, err := webhook.NewKeys(webhook.StaticKeys{"2025": oldKey})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := keys.Add("2026", newKey); err != nil { // first here, then in the hook: client.Hooks.Update
		fmt.Println(err)
		return
	}
	fmt.Println(len(keys.Keys()), "keys are taken")
	keys.Remove("2025") // when nothing signed with it can still arrive
	fmt.Println(len(keys.Keys()), "key is taken")
	// Output:
	// 2 keys are taken
	// 1 key is taken
}

// The ID under which a [webhook.ClaimStore] is asked for a message, such as to look it up in a store.
func ExampleClaimID() {
	fmt.Println(webhook.ClaimID(&prepaid.Message{HookID: "hook-1", ID: "message-7"}))
	fmt.Println(webhook.ClaimID(&prepaid.Message{HookID: "hook/2", ID: "message-7"}))
	// Output:
	// hook-1/message-7
	// hook%2F2/message-7
}
