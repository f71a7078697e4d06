package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

// messageKey identifies a message: its ID is unique within its hook.
type messageKey struct {
	hook prepaid.HookID
	id   prepaid.MessageID
}

// queue stands for a table with the message's key as its primary key. A message must be on disk before it is
// acknowledged: from then on it exists nowhere else.
type queue struct {
	waiting []prepaid.Message
	known   map[messageKey]bool
}

// put is insert … on conflict do nothing: the Handler's store may forget an ID, the table does not.
func (q *queue) put(_ context.Context, m *prepaid.Message) error {
	if key := (messageKey{m.HookID, m.ID}); !q.known[key] {
		q.known[key] = true
		q.waiting = append(q.waiting, *m)
	}
	return nil
}

// next removes a message only if work succeeded, so that a message stays after a failure or a crash.
func (q *queue) next(work func(prepaid.Message) error) error {
	if err := work(q.waiting[0]); err != nil {
		return err
	}
	q.waiting = q.waiting[1:]
	return nil
}

// Acknowledge first and work later, if the work takes longer than the service waits: the function only puts the
// message into a durable queue, and a worker takes it from there.
func Example_queue() {
	q := &queue{known: map[messageKey]bool{}}
	handler, err := webhook.NewHandler(webhook.Config{
		AllowUnverified: true, // an example without keys; a receiver has a Verifier
		OnTransaction:   q.put,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"m1", "m2", "m1"} {
		body := `{"id":"` + id + `","hook_id":"h1","timestamp":"2026-03-01T10:00:00Z","type":"transaction"}`
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println("responded", w.Code)
	}

	tries := 0
	for len(q.waiting) > 0 { // the worker, at its own pace
		err := q.next(func(m prepaid.Message) error {
			if tries++; tries == 1 {
				return fmt.Errorf("%s: ledger is busy", m.ID)
			}
			fmt.Println("worked on", m.ID)
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// responded 200
	// responded 200
	// responded 200
	// m1: ledger is busy
	// worked on m1
	// worked on m2
}

// A function with a typed payload, and one for a type that the operator has named.
func ExampleDecoded() {
	type payment struct {
		Transaction struct {
			Amount prepaid.Amount `json:"amount"`
		} `json:"transaction"`
	}
	handler, err := webhook.NewHandler(webhook.Config{
		AllowUnverified: true, // an example without keys; a receiver has a Verifier
		OnTransaction: webhook.Decoded(func(_ context.Context, m *prepaid.Message, p payment) error {
			fmt.Println(m.ID, p.Transaction.Amount)
			return nil
		}),
		OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{
			"undeliverable_alert": func(context.Context, *prepaid.Message) error {
				fmt.Println("time to drain")
				return nil
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{
		`{"id":"m1","hook_id":"h1","type":"transaction","transaction":{"amount":-12.50}}`,
		`{"id":"m2","hook_id":"h1","type":"undeliverable_alert"}`,
		`{"type":"ping"}`,
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println("responded", w.Code)
	}
	// Output:
	// m1 -12.50
	// responded 200
	// time to drain
	// responded 200
	// responded 200
}
