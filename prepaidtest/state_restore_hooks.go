package prepaidtest

import (
	"encoding/json"
	"errors"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
)

func (s *service) restoreHooks(l Locked, d *stateDocument) error {
	for i, add := range d.Hooks {
		if s.hooks.byID[add.ID] != nil {
			return wrong("hooks", i, "is there twice")
		}
		if !s.hooks.isFilter(add.Filter) {
			return wrong("hooks", i, "has a filter_spec that must be given with WithFilter again")
		}
		h := &hook{id: add.ID, hookConfig: hookConfig{
			uri: add.URI, scope: add.Scope, filter: add.Filter, enabled: add.Enabled, reliability: add.Reliability,
			keyID: add.KeyID, secret: add.Secret,
		}}
		for _, list := range []struct {
			from []savedMessage
			to   *[]*message
		}{{add.Undeliverable, &h.undeliverable}, {add.Queue, &h.queue}} {
			for _, waiting := range list.from {
				m, err := waiting.message()
				if err != nil {
					return wrong("hooks", i, err.Error())
				}
				*list.to = append(*list.to, m)
			}
		}
		s.hooks.byID[h.id] = h
		s.hooks.order = append(s.hooks.order, h)
	}
	return nil
}

func (m *savedMessage) message() (*message, error) {
	if !json.Valid([]byte(m.Body)) {
		return nil, errors.New("has a message whose body is not JSON")
	}
	return &message{id: m.ID, kind: m.Type, at: m.At, body: []byte(m.Body), attempts: m.Attempts, keep: m.Keep, held: m.Held}, nil
}

func (s *service) restoreTasks(l Locked, d *stateDocument) error {
	for i, waiting := range d.Tasks {
		j, err := s.restoreJob(l, waiting)
		if err != nil {
			return wrong("tasks", i, err.Error())
		}
		s.clock.Push(waiting.Due, j)
	}
	return nil
}

func (s *service) restoreJob(l Locked, saved savedTask) (clock.Job, error) {
	switch saved.Kind {
	case taskClear, taskReverseClear:
		in := saved.Input
		if in == nil || l.Account(in.Account) == nil {
			return nil, errors.New("has no account of the document")
		}
		return &simulatorTask{simulator: s.simulator, kind: saved.Kind, input: &simulated{
			kind: in.Kind, account: in.Account, authorisation: in.Authorisation, amount: in.Amount, merchant: in.Merchant,
		}}, nil
	case taskSend, taskAlert:
		return s.restoreHookTask(saved)
	}
	return nil, errors.New("is of an unknown kind")
}

func (s *service) restoreHookTask(saved savedTask) (clock.Job, error) {
	task := &hookTask{hooks: s.hooks, kind: saved.Kind, hook: s.hooks.byID[saved.Hook]}
	switch {
	case saved.Kind == taskAlert && task.hook == nil:
		return nil, errors.New("has no hook of the document")
	case saved.Kind == taskAlert:
		task.hook.alerting = true
		return task, nil
	case task.hook == nil || saved.Message == nil:
		return nil, errors.New("has no hook of the document or no message")
	}
	var err error
	task.message, err = saved.Message.message()
	return task, err
}
