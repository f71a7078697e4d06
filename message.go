package prepaid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/internal/redact"
)

// MessageType is a message's type; of its values the reference names transaction only. Any other is kept as it came.
// The zero value is no type.
type MessageType string

// MessageTypeTransaction is a transaction on a company in the hook's scope.
const MessageTypeTransaction MessageType = "transaction"

// Known reports whether the reference names the type.
func (t MessageType) Known() bool { return t == MessageTypeTransaction }

// Message is a webhook message (reference sections 2.14 and 6): the envelope, and everything as it came. fmt and
// slog print the envelope only. The zero value is no message.
type Message struct {
	// ID identifies the message; a ping may have none.
	ID string
	// HookID is the hook it was sent for.
	HookID string
	// Timestamp is when it was made, in UTC.
	Timestamp time.Time
	// Type tells a transaction from the rest.
	Type MessageType
	// Raw is the whole message: the payload beyond the envelope is not in the reference.
	Raw json.RawMessage `redact:"content"`
}

// messageEnvelope is what every message has: its members as JSON.
type messageEnvelope struct {
	ID        string          `json:"id,omitzero"`
	HookID    string          `json:"hook_id,omitzero"`
	Timestamp time.Time       `json:"timestamp,omitzero"`
	Type      MessageType     `json:"type,omitzero"`
	Raw       json.RawMessage `json:"-"`
}

// ParseMessage reads the envelope of a message and keeps a copy of the whole.
func ParseMessage(data []byte) (*Message, error) {
	m := &Message{}
	if err := m.UnmarshalJSON(data); err != nil {
		return nil, &DecodeError{Err: errNotJSON}
	}
	return m, nil
}

// UnmarshalJSON reads the envelope and keeps a copy of the whole.
func (m *Message) UnmarshalJSON(data []byte) error {
	var envelope messageEnvelope
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return errNull
	}
	if err := jsonv2.Unmarshal(data, &envelope, decodeOptions); err != nil {
		return quiet(err)
	}
	*m = Message(envelope)
	m.Raw = bytes.Clone(data)
	return nil
}

// MarshalJSON writes the message as it came or, when Raw is empty, its envelope.
func (m Message) MarshalJSON() ([]byte, error) {
	if len(m.Raw) > 0 {
		return m.Raw, nil
	}
	return jsonv2.Marshal(messageEnvelope(m), encodeOptions)
}

// Decode reads the whole message as JSON into your own struct.
func (m *Message) Decode(into any) error {
	if err := jsonv2.Unmarshal(m.Raw, into, callerOptions); err != nil {
		return &DecodeError{Err: errNotJSON}
	}
	return nil
}

// Format prints the envelope.
func (m Message) Format(f fmt.State, verb rune) { redact.Format(f, verb, m) }

// LogValue logs the envelope.
func (m Message) LogValue() slog.Value { return redact.LogValue(m) }
