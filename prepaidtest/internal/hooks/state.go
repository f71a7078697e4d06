package hooks

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// SavedHook is a hook in the saved state.
type SavedHook struct {
	ID            string         `json:"id"`
	URI           string         `json:"uri"`
	Scope         []int64        `json:"scope"`
	Filter        string         `json:"filter_spec"`
	Enabled       bool           `json:"enabled"`
	Reliability   string         `json:"reliability_mode"`
	KeyID         string         `json:"hmac_key_id"`
	Secret        string         `json:"hmac_key_secret"`
	Undeliverable []SavedMessage `json:"undeliverable"`
	Queue         []SavedMessage `json:"queue"`
}

// SavedMessage has the body as text, since the same message has the same bytes in each attempt.
type SavedMessage struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	At       time.Time `json:"timestamp"`
	Body     string    `json:"body"`
	Attempts int       `json:"attempts"`
	Keep     bool      `json:"keep,omitzero"`
	Held     bool      `json:"held,omitzero"`
}

// Save returns the hooks, oldest first.
func (s *Hooks) Save(_ ledger.View) []SavedHook {
	list := make([]SavedHook, len(s.order))
	for i, h := range s.order {
		list[i] = h.saved()
	}
	return list
}

// saved needs the lock. An attempt under way does not count: after a restart it is made again.
func (h *Hook) saved() SavedHook {
	saved := SavedHook{
		ID: h.ID, URI: h.URI, Scope: h.Scope, Filter: h.Filter, Enabled: h.Enabled, Reliability: h.Reliability,
		KeyID: h.KeyID, Secret: h.secret, Undeliverable: []SavedMessage{}, Queue: []SavedMessage{},
	}
	for _, m := range h.Undeliverable {
		saved.Undeliverable = append(saved.Undeliverable, m.saved())
	}
	if h.current != nil {
		current := h.current.saved()
		current.Attempts--
		saved.Queue = append(saved.Queue, current)
	}
	for _, m := range h.queue {
		saved.Queue = append(saved.Queue, m.saved())
	}
	return saved
}

func (m *Message) saved() SavedMessage {
	return SavedMessage{m.ID, m.Kind, m.At, string(m.Body), m.Attempts, m.keep, m.held}
}

// Restore puts back what was saved.
func (s *Hooks) Restore(_ ledger.Locked, saved []SavedHook) error {
	for i, add := range saved {
		if s.byID[add.ID] != nil {
			return document.Wrong("hooks", i, "is there twice")
		}
		if !s.isFilter(add.Filter) {
			return document.Wrong("hooks", i, "has a filter_spec that must be given with WithFilter again")
		}
		h := &Hook{ID: add.ID, Config: Config{
			URI: add.URI, Scope: add.Scope, Filter: add.Filter, Enabled: add.Enabled, Reliability: add.Reliability,
			KeyID: add.KeyID, secret: add.Secret,
		}}
		for _, list := range []struct {
			from []SavedMessage
			to   *[]*Message
		}{{add.Undeliverable, &h.Undeliverable}, {add.Queue, &h.queue}} {
			for _, waiting := range list.from {
				m, err := waiting.message()
				if err != nil {
					return document.Wrong("hooks", i, err.Error())
				}
				*list.to = append(*list.to, m)
			}
		}
		s.byID[h.ID] = h
		s.order = append(s.order, h)
	}
	return nil
}

func (m *SavedMessage) message() (*Message, error) {
	if !json.Valid([]byte(m.Body)) {
		return nil, errors.New("has a message whose body is not JSON")
	}
	return &Message{ID: m.ID, Kind: m.Type, At: m.At, Body: []byte(m.Body), Attempts: m.Attempts, keep: m.Keep, held: m.Held}, nil
}

// Save returns the kind, the hook and the message, nil for an alert; false when the hook was deleted and has nothing left to
// do.
func (t *Task) Save(_ ledger.View) (kind, hook string, message *SavedMessage, ok bool) {
	if t.message != nil {
		message = new(t.message.saved())
	}
	return t.kind, t.hook.ID, message, !t.hook.deleted
}

// HasTask reports whether a kind of task is a hook's.
func (s *Hooks) HasTask(kind string) bool { return kind == taskSend || kind == taskAlert }

// RestoreTask returns a task that was saved.
func (s *Hooks) RestoreTask(_ ledger.Locked, kind, hook string, message *SavedMessage) (clock.Job, error) {
	task := &Task{hooks: s, kind: kind, hook: s.byID[hook]}
	switch {
	case kind == taskAlert && task.hook == nil:
		return nil, errors.New("has no hook of the document")
	case kind == taskAlert:
		task.hook.alerting = true
		return task, nil
	case task.hook == nil || message == nil:
		return nil, errors.New("has no hook of the document or no message")
	}
	var err error
	task.message, err = message.message()
	return task, err
}
