package prepaidtest

import (
	"encoding/json"
	"errors"
)

func (s *Server) restoreHooks(d *stateDocument) error {
	for i, add := range d.Hooks {
		if s.hooks[add.ID] != nil {
			return wrong("hooks", i, "is there twice")
		}
		if !s.isFilter(add.Filter) {
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
		s.hooks[h.id] = h
		s.hookOrder = append(s.hookOrder, h)
	}
	return nil
}

func (m *savedMessage) message() (*message, error) {
	if !json.Valid([]byte(m.Body)) {
		return nil, errors.New("has a message whose body is not JSON")
	}
	return &message{id: m.ID, kind: m.Type, at: m.At, body: []byte(m.Body), attempts: m.Attempts, keep: m.Keep, held: m.Held}, nil
}

func (s *Server) restoreTasks(d *stateDocument) error {
	for i, waiting := range d.Tasks {
		j, err := s.restoreJob(waiting)
		if err != nil {
			return wrong("tasks", i, err.Error())
		}
		s.clock.Push(waiting.Due, j)
	}
	return nil
}

func (s *Server) restoreJob(saved savedTask) (*job, error) {
	j := &job{server: s, kind: saved.Kind, hook: s.hooks[saved.Hook]}
	switch saved.Kind {
	case jobClear, jobReverseClear:
		in := saved.Input
		if in == nil || s.accounts[in.Account] == nil {
			return nil, errors.New("has no account of the document")
		}
		j.input = &simulated{
			kind: in.Kind, account: in.Account, authorisation: in.Authorisation, amount: in.Amount, merchant: in.Merchant.merchant(),
		}
		return j, nil
	case jobSend:
		if j.hook == nil || saved.Message == nil {
			return nil, errors.New("has no hook of the document or no message")
		}
		var err error
		j.message, err = saved.Message.message()
		return j, err
	case jobAlert:
		if j.hook == nil {
			return nil, errors.New("has no hook of the document")
		}
		j.hook.alerting = true
		return j, nil
	}
	return nil, errors.New("is of an unknown kind")
}

// resume sets going what was restored, just before the server answers its first request.
func (s *Server) resume() {
	s.mu.Lock()
	for _, h := range s.hookOrder {
		if len(h.queue) > 0 {
			s.pending += len(h.queue)
			s.startSending(h)
		}
	}
	s.mu.Unlock()
	s.clock.Resume()
	if s.file != nil {
		s.work.Go(s.keepUpToDate)
	}
}
