package hooks

import (
	"encoding/json"
	"errors"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// SavedHook is a hook in the saved state.
type SavedHook struct {
	ID string `json:"id"`
	Config
	Undeliverable []state.Message `json:"undeliverable"`
	Queue         []state.Message `json:"queue"`
}

// Save returns the hooks, oldest first.
func (s *Hooks) Save(_ ledger.View) []SavedHook {
	list := make([]SavedHook, len(s.order))
	for i, h := range s.order {
		list[i] = h.saved()
	}
	return list
}

// saved does not count a running attempt, since a restart repeats this attempt. The caller holds the lock.
func (h *Hook) saved() SavedHook {
	saved := SavedHook{h.ID, h.Config, []state.Message{}, []state.Message{}}
	for _, m := range h.Undeliverable {
		saved.Undeliverable = append(saved.Undeliverable, *m)
	}
	if h.current != nil {
		saved.Queue = append(saved.Queue, *h.current)
		saved.Queue[0].Attempts--
	}
	for _, m := range h.queue {
		saved.Queue = append(saved.Queue, *m)
	}
	return saved
}

// Restore loads the saved state.
func (s *Hooks) Restore(_ ledger.Locked, saved []SavedHook) error {
	for i, add := range saved {
		if s.byID[add.ID] != nil {
			return document.Wrong("hooks", i, "is there twice")
		}
		h := &Hook{ID: add.ID, Config: add.Config}
		for _, list := range []struct {
			from []state.Message
			to   *[]*state.Message
		}{{add.Undeliverable, &h.Undeliverable}, {add.Queue, &h.queue}} {
			for _, m := range list.from {
				if err := checkMessage(&m); err != nil {
					return document.Wrong("hooks", i, err.Error())
				}
				*list.to = append(*list.to, &m)
			}
		}
		s.byID[h.ID] = h
		s.order = append(s.order, h)
	}
	return nil
}

func checkMessage(m *state.Message) error {
	if !json.Valid([]byte(m.Body)) {
		return errors.New("has a message whose body is not JSON")
	}
	return nil
}

// Save returns the kind, the hook and the message (nil for an alert). If the hook was deleted, ok is false: the task has
// no effect.
func (t *Task) Save(_ ledger.View) (kind, hook string, message *state.Message, ok bool) {
	if t.message != nil {
		message = new(*t.message)
	}
	return t.kind, t.hook.ID, message, !t.hook.deleted
}

// HasTask reports whether kind is the kind of a hook's task.
func (s *Hooks) HasTask(kind string) bool { return kind == taskSend || kind == taskAlert }

// RestoreTask returns a saved task.
func (s *Hooks) RestoreTask(_ ledger.Locked, kind, hook string, message *state.Message) (clock.Job, error) {
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
	task.message = message
	return task, checkMessage(message)
}
