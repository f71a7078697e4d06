package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// messageBody is the envelope (section 6) with this emulator's own payload for transactions: the history item
// and its company.
type messageBody struct {
	ID          state.MessageID `json:"id"`
	HookID      string          `json:"hook_id"`
	Timestamp   wire.DateTime   `json:"timestamp"`
	Type        string          `json:"type"`
	CompanyID   state.CompanyID `json:"company_id,omitzero"`
	Transaction json.RawMessage `json:"transaction,omitzero"`
}

func newSender(with Options) *http.Client {
	return &http.Client{
		Timeout: with.Timeout,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: with.Roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (s *Hooks) newMessage(hookID, kind string, at time.Time, company state.CompanyID, transaction []byte) *state.Message {
	m := &state.Message{ID: state.MessageID(s.ids.UUID()), Type: kind, Time: at}
	// Strings, numbers and times always marshal.
	text, _ := json.Marshal(messageBody{
		ID: m.ID, HookID: hookID, Timestamp: wire.DateTime(at), Type: kind, CompanyID: company, Transaction: transaction,
	})
	m.Body = string(text)
	return m
}

// ping sends a ping and reports whether the response is a success. The caller of the operation waits for this.
func (s *Hooks) ping(c *exchange.Call, hookID string, config Config) bool {
	m := s.newMessage(hookID, "ping", s.clock.Now(), 0, nil)
	m.Attempts = 1
	return s.dispatchPing(c.Request.Context(), hookID, config, m)
}

// Announce queues a booked item for the hooks that watch the company.
func (s *Hooks) Announce(l ledger.Locked, a *ledger.Account, booked ledger.Item) {
	for _, h := range s.order {
		if !h.Enabled || !slices.Contains(h.Scope, a.Company.ID) {
			continue
		}
		m := s.newMessage(h.ID, "transaction", booked.OccurredAt, a.Company.ID, ledger.AppendItem(nil, booked))
		m.Keep = true
		s.enqueue(l, h, m)
	}
}

// enqueue puts a message into the queue of its hook. One goroutine drains the queue of a hook until it is empty, so the
// messages of a hook are sent one after the other. After Close, messages are kept for Save and not sent.
func (s *Hooks) enqueue(l ledger.Locked, h *Hook, m *state.Message) {
	h.queue = append(h.queue, m)
	if s.activity.Begin(1) {
		s.startSending(l, h)
	}
}

func (s *Hooks) startSending(_ ledger.Locked, h *Hook) {
	if !h.sending {
		h.sending = s.activity.Start(func() { s.drain(h) })
	}
}

// drain sends the queue of a hook, one message after the other.
func (s *Hooks) drain(h *Hook) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.activity.Run(func() {
		select {
		case <-s.activity.Stopping():
			cancel()
		case <-ctx.Done():
		}
	})
	for {
		m, config, wanted := s.next(h)
		if m == nil {
			return
		}
		delivered := !wanted
		if wanted {
			s.slots <- struct{}{}
			delivered = s.dispatch(ctx, h, config, m)
			<-s.slots
		}
		l := s.ledger.Lock()
		h.current = nil
		if !delivered {
			s.undelivered(l, h, m)
		}
		s.activity.End(1)
		l.Unlock()
	}
}

// next takes a message out of the queue. Without a message to send, it returns nil. If wanted is false, the message must be dropped.
func (s *Hooks) next(h *Hook) (m *state.Message, config Config, wanted bool) {
	l := s.ledger.Lock()
	defer l.Unlock()
	closed := s.activity.IsClosed()
	if len(h.queue) == 0 || closed {
		h.sending = false
		if closed { // the other messages are kept for Save
			s.activity.Abandon()
		}
		return nil, Config{}, false
	}
	m = h.queue[0]
	h.queue = h.queue[1:]
	m.Attempts++
	h.current = m
	return m, h.Config, h.Enabled && !h.deleted
}

// undelivered schedules another attempt, or stores the message.
func (s *Hooks) undelivered(l ledger.Locked, h *Hook, m *state.Message) {
	if s.activity.IsClosed() { // Close may have cut the attempt: do not count the attempt
		m.Attempts--
		h.queue = slices.Insert(h.queue, 0, m)
		return
	}
	if h.deleted || !h.Enabled || !m.Keep {
		return
	}
	if retry := m.Attempts - 1; retry < len(s.with.Retries) {
		s.clock.After(s.with.Retries[retry], &Task{hooks: s, kind: taskSend, hook: h, message: m})
		return
	}
	if h.Reliability == reliabilityStore {
		h.Undeliverable = append(h.Undeliverable, m)
		s.alertLater(l, h, s.clock.Now())
	}
}

// alertLater schedules an alert each interval until all messages are dismissed.
func (s *Hooks) alertLater(_ ledger.Locked, h *Hook, from time.Time) {
	if h.alerting || len(h.Undeliverable) == 0 {
		return
	}
	h.alerting = true
	s.clock.At(from.Add(s.with.AlertEvery), &Task{hooks: s, kind: taskAlert, hook: h})
}

// alert sends an alert that is due.
func (s *Hooks) alert(l ledger.Locked, h *Hook, at time.Time) {
	h.alerting = false
	if h.deleted || len(h.Undeliverable) == 0 {
		return
	}
	if h.Enabled {
		s.enqueue(l, h, s.newMessage(h.ID, "undeliverable_alert", at, 0, nil))
	}
	// After a long move of the clock, the missed alerts are sent, up to a limit.
	if now, every := s.clock.Now(), s.with.AlertEvery; now.Sub(at) > 100*every {
		at = now
	}
	s.alertLater(l, h, at)
}

func (s *Hooks) transmit(ctx context.Context, config Config, body []byte) (status int, problem string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, config.URI, bytes.NewReader(body))
	if err != nil {
		return 0, "the address cannot be used"
	}
	request.Header.Set("Content-Type", s.with.MediaType)
	s.with.Signature.sign(request.Header, config, body)
	response, err := s.sender.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the address, which may hold a secret
		}
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	return response.StatusCode, ""
}

// Signing is how messages are signed.
type Signing struct {
	Header      string
	KeyIDHeader string
	Prefix      string
	Base64      bool
	KeyText     bool
}

func (f Signing) sign(header http.Header, config Config, body []byte) {
	if f.KeyIDHeader != "" {
		header.Set(f.KeyIDHeader, config.KeyID)
	}
	if f.Header == "" {
		return
	}
	key := []byte(config.Secret)
	if !f.KeyText {
		key, _ = hex.DecodeString(config.Secret) // checked at registration; a lenient server signs with the valid part
	}
	sum := hmac.New(sha256.New, key)
	_, _ = sum.Write(body) // never fails
	text := hex.EncodeToString(sum.Sum(nil))
	if f.Base64 {
		text = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	header.Set(f.Header, f.Prefix+text)
}

// The kinds of tasks.
const (
	taskSend  = "send" // of a message that is retried, or that was held back
	taskAlert = "alert"
)

// Task is a message or alert for later.
type Task struct {
	hooks   *Hooks
	kind    string
	hook    *Hook
	message *state.Message // of a taskSend
}

// Do sends the message or alert.
func (t *Task) Do(due time.Time) {
	l := t.hooks.ledger.Lock()
	defer l.Unlock()
	if t.kind == taskSend {
		t.hooks.enqueue(l, t.hook, t.message)
		return
	}
	t.hooks.alert(l, t.hook, due)
}
