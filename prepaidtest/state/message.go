package state

import (
	"time"

	"github.com/cardprograms/prepaid"
)

// HookID is the UUID of a webhook.
type HookID = prepaid.HookID

// MessageID is the UUID of a webhook message.
type MessageID = prepaid.MessageID

// Message is a webhook message (2.14) that waits for an attempt or is undeliverable.
type Message struct {
	// ID is the message's UUID, the same in each attempt.
	ID MessageID `json:"id"`
	// Type is "transaction", or the type of a ping or an alert.
	Type string `json:"type"`
	// Time is when the message was made, on the server's clock.
	Time time.Time `json:"timestamp"`
	// Body is the whole message as sent, in JSON.
	Body string `json:"body"`
	// Attempts counts how often the message was sent.
	Attempts int `json:"attempts"`
	// Keep reports whether the message is stored as undeliverable if all attempts fail.
	Keep bool `json:"keep,omitzero"`
	// Held reports whether a DelayMessage fault holds the message back.
	Held bool `json:"held,omitzero"`
}
