package prepaidtest

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
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// message is one webhook message on its way.
type message struct {
	id, kind string
	at       time.Time
	body     []byte
	attempts int
	keep     bool // becomes undeliverable when it cannot be delivered
	held     bool // by DelayMessage
}

// messageBody is the envelope (section 6) with this emulator's own payload for transactions: the history item
// and its company.
type messageBody struct {
	ID          string          `json:"id"`
	HookID      string          `json:"hook_id"`
	Timestamp   wire.DateTime   `json:"timestamp"`
	Type        string          `json:"type"`
	CompanyID   int64           `json:"company_id,omitzero"`
	Transaction json.RawMessage `json:"transaction,omitzero"`
}

// Delivery is one attempt to deliver a message.
type Delivery struct {
	// Time is the server's clock after the attempt.
	Time time.Time
	// HookID is the hook.
	HookID string
	// MessageID is the message; the same in each attempt.
	MessageID string
	// Type is the type of the message: transaction, or the words of MessageTypes.
	Type string
	// Attempt counts from 1.
	Attempt int
	// Status is the receiver's HTTP status, 0 when none came.
	Status int
	// Delivered tells whether the service holds the message to be delivered: the receiver answered with success
	// (2xx), or the message was lost by a fault without its noticing.
	Delivered bool
	// Problem says in words why no status came; empty otherwise.
	Problem string
	// Fault tells whether an armed fault was used on this attempt.
	Fault bool
}

// String is one line: time, hook, type and id of the message, attempt, status or problem.
func (d Delivery) String() string {
	outcome := strconv.Itoa(d.Status)
	if d.Problem != "" {
		outcome = d.Problem
	}
	if d.Fault {
		outcome += " (fault)"
	}
	return fmt.Sprintf("%s hook %s %s %s attempt %d: %s", d.Time.Format(time.RFC3339Nano), d.HookID, d.Type, d.MessageID, d.Attempt, outcome)
}

// Deliveries returns the attempts made to deliver messages, pings included, oldest first, as far as the log
// reaches back (see RequestLog).
func (s *Server) Deliveries() []Delivery { return s.deliveries.All() }

func newSender(settings webhookSettings) *http.Client {
	return &http.Client{
		Timeout: settings.timeout,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: settings.roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (s *Server) newMessage(hookID, kind string, at time.Time, company int64, transaction []byte) *message {
	m := &message{id: s.ids.UUID(), kind: kind, at: at}
	// Strings, numbers and times always marshal.
	m.body, _ = json.Marshal(messageBody{
		ID: m.id, HookID: hookID, Timestamp: wire.DateTime(at), Type: kind, CompanyID: company, Transaction: transaction,
	})
	return m
}

// ping asks a receiver for a successful answer. The caller waits for it.
func (s *Server) ping(c *exchange.Call, hookID string, config hookConfig) bool {
	m := s.newMessage(hookID, s.settings.webhooks.pingType, s.clock.Now(), 0, nil)
	m.attempts = 1
	return s.dispatchPing(c.Request.Context(), hookID, config, m)
}

// announce hands a booked item to the hooks that watch the company. It needs s.mu.
func (s *Server) announce(a *account, booked item, at time.Time) {
	for _, h := range s.hookOrder {
		if !h.enabled || !slices.Contains(h.scope, a.company.ID) {
			continue
		}
		if match := s.settings.webhooks.filters[h.filter]; match != nil && !match(booked.public()) {
			continue
		}
		m := s.newMessage(h.id, "transaction", at, a.company.ID, appendItem(nil, booked))
		m.keep = true
		s.enqueue(h, m)
	}
}

// enqueue needs s.mu. A goroutine works on the queue of a hook as long as there is something in it, so that the
// messages of a hook go out one after the other. After Close they are only kept, for Save.
func (s *Server) enqueue(h *hook, m *message) {
	h.queue = append(h.queue, m)
	if s.closed {
		return
	}
	s.pending++
	s.startSending(h)
}

// startSending needs s.mu.
func (s *Server) startSending(h *hook) {
	if !h.sending {
		h.sending = true
		s.work.Go(func() { s.drain(h) })
	}
}

func (s *Server) drain(h *hook) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.work.Go(func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	for {
		s.mu.Lock()
		if len(h.queue) == 0 || s.closed {
			h.sending = false
			if s.closed { // what is left is kept, for Save
				s.settled(s.pending)
			}
			s.mu.Unlock()
			return
		}
		m, config, wanted := h.queue[0], h.hookConfig, h.enabled && !h.deleted
		h.queue = h.queue[1:]
		m.attempts++
		h.current = m
		s.mu.Unlock()

		delivered := !wanted
		if wanted {
			s.sending <- struct{}{}
			delivered = s.dispatch(ctx, h, config, m)
			<-s.sending
		}
		s.mu.Lock()
		h.current = nil
		if !delivered {
			s.undelivered(h, m)
		}
		s.settled(1)
		s.mu.Unlock()
	}
}

// settled counts messages and requests that are no longer under way. It needs s.mu.
func (s *Server) settled(n int) {
	s.pending = max(s.pending-n, 0)
	if s.pending == 0 {
		for _, waiting := range s.idle {
			close(waiting)
		}
		s.idle = nil
	}
}

// undelivered tries again later, or stores the message. It needs s.mu.
func (s *Server) undelivered(h *hook, m *message) {
	if s.closed { // which may have cut the attempt short: it does not count
		m.attempts--
		h.queue = slices.Insert(h.queue, 0, m)
		return
	}
	if h.deleted || !h.enabled || !m.keep {
		return
	}
	if retry := m.attempts - 1; retry < len(s.settings.webhooks.retries) {
		s.clock.After(s.settings.webhooks.retries[retry], &job{server: s, kind: jobSend, hook: h, message: m})
		return
	}
	if h.reliability == reliabilityStore {
		h.undeliverable = append(h.undeliverable, m)
		s.alertLater(h, s.clock.Now())
	}
}

// alertLater sends an alert an interval later, and so on until all messages are dismissed. It needs s.mu.
func (s *Server) alertLater(h *hook, from time.Time) {
	if h.alerting || len(h.undeliverable) == 0 {
		return
	}
	h.alerting = true
	s.clock.At(from.Add(s.settings.webhooks.alertEvery), &job{server: s, kind: jobAlert, hook: h})
}

// alert needs s.mu.
func (s *Server) alert(h *hook, at time.Time) {
	h.alerting = false
	if h.deleted || len(h.undeliverable) == 0 {
		return
	}
	if h.enabled {
		s.enqueue(h, s.newMessage(h.id, s.settings.webhooks.alertType, at, 0, nil))
	}
	// A clock that was moved far makes the alerts of that time, but not without end.
	if now, every := s.clock.Now(), s.settings.webhooks.alertEvery; now.Sub(at) > 100*every {
		at = now
	}
	s.alertLater(h, at)
}

func (s *Server) transmit(ctx context.Context, config hookConfig, body []byte) (status int, problem string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, config.uri, bytes.NewReader(body))
	if err != nil {
		return 0, "the address cannot be used"
	}
	request.Header.Set("Content-Type", s.form.MediaType)
	s.settings.webhooks.signature.sign(request.Header, config, body)
	response, err := s.sender.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the address, which may hold a secret
		}
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // lets the connection be used again
	return response.StatusCode, ""
}

func (f Signature) sign(header http.Header, config hookConfig, body []byte) {
	if f.KeyIDHeader != "" {
		header.Set(f.KeyIDHeader, config.keyID)
	}
	if f.Header == "" {
		return
	}
	key := []byte(config.secret)
	if !f.KeyText {
		key, _ = hex.DecodeString(config.secret) // checked at registration; a lenient server signs with what there is
	}
	sum := hmac.New(sha256.New, key)
	_, _ = sum.Write(body) // never fails
	text := hex.EncodeToString(sum.Sum(nil))
	if f.Base64 {
		text = base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	header.Set(f.Header, f.Prefix+text)
}

// WaitIdle returns when no request runs on after its response (CommitAfter) and no webhook message is queued or on its
// way, or when ctx ends. Retries and alerts that wait for the clock do not count.
func (s *Server) WaitIdle(ctx context.Context) error {
	s.clock.Settle()
	s.mu.Lock()
	if s.pending == 0 {
		s.mu.Unlock()
		return nil
	}
	waiting := make(chan struct{})
	s.idle = append(s.idle, waiting)
	s.mu.Unlock()
	select {
	case <-waiting:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
