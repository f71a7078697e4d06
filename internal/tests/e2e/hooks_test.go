package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// hookSecret is a 256-bit key.
const hookSecret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// hookStage is a stage with a receiver of webhooks.
type hookStage struct {
	*stage
	receiver *httptest.Server

	mu       sync.Mutex
	status   int // of the receiver's responses
	received []*prepaid.Message
	unsigned int // messages whose signature is wrong
	users    map[string]int
}

func newHookStage(t *testing.T, options prepaidtest.Options) *hookStage {
	t.Helper()
	s := &hookStage{status: http.StatusOK, users: map[string]int{}}
	s.receiver = httptest.NewUnstartedServer(http.HandlerFunc(s.receive))
	s.receiver.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // connections that are cut
	s.receiver.StartTLS()
	t.Cleanup(s.receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.receiver.Certificate())
	options.WebhookRoots = roots
	s.stage = newStage(t, options)
	return s
}

func (s *hookStage) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key, _ := hex.DecodeString(hookSecret)
	sum := hmac.New(sha256.New, key)
	sum.Write(body)
	message := &prepaid.Message{}
	err = message.UnmarshalJSON(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, password, ok := r.BasicAuth(); ok {
		s.users[name+":"+password]++
	}
	if err == nil {
		s.received = append(s.received, message)
	}
	if r.Header.Get("X-Signature") != hex.EncodeToString(sum.Sum(nil)) || r.Header.Get("X-Hmac-Key-Id") != "key-1" {
		s.unsigned++
	}
	w.WriteHeader(s.status)
}

// response sets the status of the receiver from now on.
func (s *hookStage) response(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// messages returns the received messages of a kind.
func (s *hookStage) messages(kind prepaid.MessageType) []*prepaid.Message {
	s.t.Helper()
	s.quiet()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Zero(s.t, s.unsigned)
	var found []*prepaid.Message
	for _, message := range s.received {
		if message.Type == kind {
			found = append(found, message)
		}
	}
	return found
}

// quiet waits until no message is under way.
func (s *hookStage) quiet() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(s.t, s.WaitIdle(ctx))
}

// hook has all seven fields.
func (s *hookStage) hook(enabled bool) prepaid.CreateHookParams {
	return prepaid.CreateHookParams{
		URI: s.receiver.URL + "/hook", Scope: []prepaid.CompanyID{company}, FilterSpec: prepaid.FilterAll, Enabled: enabled,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "key-1", HMACKeySecret: prepaid.NewSecret(hookSecret),
	}
}

// User information in a hook's address reaches the service and the receiver, but no printed text.
func TestE2EHookAddressWithUser(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newHookStage(t, prepaidtest.Options{})
	config := s.Config()
	config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	params := s.hook(true)
	params.URI = strings.Replace(params.URI, "https://", "https://ann:hunter2@", 1)
	made, err := client.Hooks.Create(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, 1, s.users["ann:hunter2"], "the ping")
	hook, err := client.Hooks.Get(t.Context(), made)
	require.NoError(t, err)
	require.Equal(t, params.URI, hook.URI)

	s.response(http.StatusInternalServerError)
	refusal := client.Hooks.Update(t.Context(), made, prepaid.UpdateHookParams{URI: params.URI + "/2"})
	require.ErrorIs(t, refusal, prepaid.CodeNoResponse)
	params.HMACKeyID = ";"
	_, invalid := client.Hooks.Create(t.Context(), params)
	require.Error(t, invalid)
	require.NoError(t, client.Close()) // waits for goroutines that still write to the log
	slog.New(slog.NewJSONHandler(&log, nil)).Info("hook", "hook", hook, "params", params)
	fmt.Fprintf(&log, "%v %+v %#v %v %v %v %+v", hook, *hook, params, refusal, invalid, s.Deliveries(), s.Requests())
	require.NotContains(t, log.String(), "hunter2")
	require.Contains(t, log.String(), "https://[REDACTED]@127.0.0.1")
}

// register makes a hook and returns its id.
func (s *hookStage) register(enabled bool) prepaid.HookID {
	s.t.Helper()
	created, err := s.client.Hooks.Create(s.t.Context(), s.hook(enabled))
	require.NoError(s.t, err)
	return created
}

// undelivered makes a hook with n messages that could not be delivered, and returns their ids, oldest first.
func (s *hookStage) undelivered(n int) (hook prepaid.HookID, messages []prepaid.MessageID) {
	s.t.Helper()
	hook, id := s.register(true), s.seed("0")
	s.quiet()
	s.response(http.StatusServiceUnavailable)
	for range n {
		s.Adjust(id, "1.00")
	}
	s.quiet()
	s.response(http.StatusOK)
	for message, err := range s.client.Hooks.Undeliverable(s.t.Context(), hook, prepaid.Paging{}) {
		require.NoError(s.t, err)
		messages = append(messages, message.ID)
	}
	require.Len(s.t, messages, n)
	return hook, messages
}

func TestE2EHookLife(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	ctx := t.Context()
	id := s.register(true)
	require.Len(t, s.messages("ping"), 1)
	require.Equal(t, id, s.messages("ping")[0].HookID)

	hook, err := s.client.Hooks.Get(ctx, id)
	require.NoError(t, err)
	want := &prepaid.Hook{
		ID: id, URI: s.receiver.URL + "/hook", Scope: []prepaid.CompanyID{company}, FilterSpec: "*", Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "key-1",
	}
	require.Equal(t, want, hook)

	// Members left out of a change stay.
	require.NoError(t, s.client.Hooks.Update(ctx, id, prepaid.UpdateHookParams{Enabled: new(false)}))
	want.Enabled = false
	hook, err = s.client.Hooks.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, want, hook)
	require.JSONEq(t, `{"enabled":false}`, s.sent("PATCH /hooks/{id}"))

	s.AddCompany(prepaidtest.Company{ID: 43})
	require.NoError(t, s.client.Hooks.Update(ctx, id, prepaid.UpdateHookParams{
		URI: s.receiver.URL + "/other", Scope: []prepaid.CompanyID{43, company}, FilterSpec: "*", Enabled: new(true),
		ReliabilityMode: prepaid.ReliabilityModeNone, HMACKeyID: "key-1", HMACKeySecret: prepaid.NewSecret(hookSecret),
	}))
	require.Len(t, s.messages("ping"), 2)
	page, err := s.client.Hooks.ListPage(ctx, prepaid.Paging{Size: 10})
	require.NoError(t, err)
	require.Equal(t, []prepaid.Hook{{
		ID: id, URI: s.receiver.URL + "/other", Scope: []prepaid.CompanyID{43, company}, FilterSpec: "*", Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeNone, HMACKeyID: "key-1",
	}}, page.Items)
	require.Equal(t, []int{1, 10, 1, 1}, []int{page.Number, page.Size, page.TotalPages, page.TotalItems})

	require.NoError(t, s.client.Hooks.Delete(ctx, id))
	_, err = s.client.Hooks.Get(ctx, id)
	refused(t, err, 400, string(prepaid.CodeInvalidHookID))
	hooks, err := prepaid.Collect(s.client.Hooks.List(ctx, prepaid.Paging{}), 10)
	require.NoError(t, err)
	require.Empty(t, hooks)
	require.Equal(t, []int{200, 204}, s.statuses("GET /hooks"))
}

// Transactions of the companies in the scope arrive, signed, with the transaction that was booked.
func TestE2EHookReceivesTransactions(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	id := s.register(true)
	account := s.seed("100.00")
	s.AddCompany(prepaidtest.Company{ID: 43})
	s.AddAccount(prepaidtest.SeedAccount{CompanyID: 43, Balance: "1.00"}) // not in the scope
	_, err := s.client.Funding.Redeem(t.Context(), redemption(account, "25.50"))
	require.NoError(t, err)

	messages := s.messages(prepaid.MessageTypeTransaction)
	require.Len(t, messages, 2)
	var payload struct {
		CompanyID   prepaid.CompanyID   `json:"company_id"`
		Transaction prepaid.Transaction `json:"transaction"`
	}
	require.NoError(t, messages[1].Decode(&payload))
	require.Equal(t, id, messages[1].HookID)
	require.WithinDuration(t, s.Now(), messages[1].Timestamp, time.Minute)
	require.Equal(t, company, payload.CompanyID)
	require.Equal(t, []any{s.last(account).ID, "-25.50", "74.50"},
		[]any{payload.Transaction.ID, payload.Transaction.Amount.String(), payload.Transaction.RunningBalance.String()})

	require.NoError(t, s.client.Hooks.Update(t.Context(), id, prepaid.UpdateHookParams{Enabled: new(false)}))
	s.redeemAgain(account, "1.00")
	require.Len(t, s.messages(prepaid.MessageTypeTransaction), 2, "a disabled hook receives nothing")
}

func TestE2EHookUndeliverable(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	ctx := t.Context()
	id, messages := s.undelivered(3)

	hook, err := s.client.Hooks.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, messages[2], hook.LastUndeliverable)
	require.WithinDuration(t, s.Now(), hook.LastUndeliverableAt, time.Minute)

	page, err := s.client.Hooks.UndeliverablePage(ctx, id, prepaid.Paging{Page: 2, Size: 2})
	require.NoError(t, err)
	require.Equal(t, []int{2, 2, 2, 3}, []int{page.Number, page.Size, page.TotalPages, page.TotalItems})
	require.Len(t, page.Items, 1)
	require.Equal(t, messages[2], page.Items[0].ID)
	require.Equal(t, prepaid.MessageTypeTransaction, page.Items[0].Type)
	require.Equal(t, id, page.Items[0].HookID)
	require.Contains(t, string(page.Items[0].Raw), `"running_balance_amount":3.00`)

	s.Advance(time.Hour)
	require.Len(t, s.messages("undeliverable_alert"), 1)

	require.NoError(t, s.client.Hooks.Dismiss(ctx, id, messages[0], messages[2]))
	left, err := prepaid.Collect(s.client.Hooks.Undeliverable(ctx, id, prepaid.Paging{}), 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, messages[1], left[0].ID)

	// A dismissed message is unknown, and with it no other message is dismissed.
	refused(t, s.client.Hooks.Dismiss(ctx, id, messages[1], messages[0]), 400, string(prepaid.CodeInvalidMessageID))
	require.NoError(t, s.client.Hooks.Dismiss(ctx, id, messages[1]))
	page, err = s.client.Hooks.UndeliverablePage(ctx, id, prepaid.Paging{})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	hook, err = s.client.Hooks.Get(ctx, id)
	require.NoError(t, err)
	require.Empty(t, hook.LastUndeliverable)
	require.Zero(t, hook.LastUndeliverableAt)

	s.Advance(time.Hour)
	require.Len(t, s.messages("undeliverable_alert"), 1, "alerts stop when all are dismissed")
}

func TestE2EHookRefused(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{PermittedCompanies: []prepaid.CompanyID{company}})
	ctx := t.Context()
	disabled := s.register(false)

	foreign := s.hook(true)
	foreign.Scope = []prepaid.CompanyID{company, 77}
	_, err := s.client.Hooks.Create(ctx, foreign)
	refused(t, err, 401, string(prepaid.CodeUnauthorized))
	err = s.client.Hooks.Update(ctx, disabled, prepaid.UpdateHookParams{Scope: []prepaid.CompanyID{77}})
	refused(t, err, 400, string(prepaid.CodeInvalidScope))

	filtered := s.hook(true)
	filtered.FilterSpec = "amount > 100"
	_, err = s.client.Hooks.Create(ctx, filtered)
	refused(t, err, 400, string(prepaid.CodeInvalidFilterSpec))

	s.response(http.StatusNotFound)
	_, err = s.client.Hooks.Create(ctx, s.hook(true))
	refused(t, err, 400, string(prepaid.CodeNoResponse))
	err = s.client.Hooks.Update(ctx, disabled, prepaid.UpdateHookParams{Enabled: new(true)})
	refused(t, err, 400, string(prepaid.CodeNoResponse))
	hook, err := s.client.Hooks.Get(ctx, disabled)
	require.NoError(t, err)
	require.False(t, hook.Enabled)

	for _, err := range []error{
		done(s.client.Hooks.Get(ctx, "none")),
		s.client.Hooks.Update(ctx, "none", prepaid.UpdateHookParams{}),
		s.client.Hooks.Dismiss(ctx, "none", "m"),
		done(s.client.Hooks.UndeliverablePage(ctx, "none", prepaid.Paging{})),
	} {
		refused(t, err, 400, string(prepaid.CodeInvalidHookID))
	}
	hooks, err := prepaid.Collect(s.client.Hooks.List(ctx, prepaid.Paging{}), 10)
	require.NoError(t, err)
	require.Len(t, hooks, 1)
}

// The 401 for a scope without access looks like that for a bad token: it causes only one renewal.
func TestE2EHookUnauthorizedRenewsOnce(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{PermittedCompanies: []prepaid.CompanyID{}})
	_, err := s.client.Hooks.Create(t.Context(), s.hook(false))
	refused(t, err, 401, string(prepaid.CodeUnauthorized))
	require.Equal(t, []int{401, 401}, s.statuses("POST /hooks"))
	require.Len(t, s.statuses(tokenOperation), 2)
}

// Every code of 4.8 arrives as a comparable error, also codes that the client's own checks prevent.
func TestE2EHookCodes(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	id := s.register(false)
	for _, code := range []prepaid.ErrorCode{
		prepaid.CodeInvalidRequest, prepaid.CodeInvalidURI, prepaid.CodeInvalidScope, prepaid.CodeInvalidFilterSpec,
		prepaid.CodeInvalidEnabled, prepaid.CodeInvalidReliabilityMode, prepaid.CodeInvalidHMACKeyID,
		prepaid.CodeInvalidHMACKeySecret, prepaid.CodeNoResponse,
	} {
		require.True(t, code.Known())
		s.Inject("POST /hooks", prepaidtest.Respond(400, string(code)))
		_, err := s.client.Hooks.Create(t.Context(), s.hook(false))
		refused(t, err, 400, string(code))
		s.Inject("PATCH /hooks/{id}", prepaidtest.Respond(400, string(code)))
		refused(t, s.client.Hooks.Update(t.Context(), id, prepaid.UpdateHookParams{Enabled: new(false)}), 400, string(code))
	}
	s.Inject("POST /hooks/{id}/undeliverable/dismiss", prepaidtest.Respond(400, string(prepaid.CodeInvalidRequest)))
	refused(t, s.client.Hooks.Dismiss(t.Context(), id, "m"), 400, string(prepaid.CodeInvalidRequest))
}

// A message that is not acknowledged is lost in mode none.
func TestE2EHookReliabilityNone(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	params := s.hook(true)
	params.ReliabilityMode = prepaid.ReliabilityModeNone
	created, err := s.client.Hooks.Create(t.Context(), params)
	require.NoError(t, err)
	s.response(http.StatusInternalServerError)
	s.seed("1.00")
	s.quiet()
	page, err := s.client.Hooks.UndeliverablePage(t.Context(), created, prepaid.Paging{})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.Equal(t, []int{204}, s.statuses("GET /hooks/{id}/undeliverable"))
}

func TestE2EHookValidation(t *testing.T) {
	t.Parallel()
	s := newHookStage(t, prepaidtest.Options{})
	_, err := s.client.Hooks.Create(t.Context(), prepaid.CreateHookParams{})
	invalid(t, err, "uri", "scope", "filter_spec", "reliability_mode", "hmac_key_id", "hmac_key_secret")
	bad := prepaid.UpdateHookParams{
		URI: "http://127.0.0.1/hook", ReliabilityMode: "some", HMACKeyID: "a;b", HMACKeySecret: prepaid.NewSecret(strings.Repeat("g", 64)),
	}
	invalid(t, s.client.Hooks.Update(t.Context(), "..", bad), "id", "uri", "reliability_mode", "hmac_key_id", "hmac_key_secret")
	invalid(t, s.client.Hooks.Dismiss(t.Context(), "h"), "message_ids")
	require.Empty(t, s.Requests())
}
