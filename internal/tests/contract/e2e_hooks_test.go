package contract

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
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

	mu     sync.Mutex
	status int // of the receiver's responses
	users  map[string]int
}

// onHookStage is onStage with a receiver. The receiver is outside the bubble and keeps no connection: on an open one, the bubble's
// clock would stop.
func onHookStage(t *testing.T, options prepaidtest.Options, test func(t *testing.T, s *hookStage)) {
	t.Helper()
	s := &hookStage{status: http.StatusOK, users: map[string]int{}}
	s.receiver = httptest.NewUnstartedServer(http.HandlerFunc(s.receive))
	s.receiver.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // connections that are cut
	s.receiver.Config.SetKeepAlivesEnabled(false)
	s.receiver.StartTLS()
	defer s.receiver.Close()
	options.WebhookRoots = x509.NewCertPool()
	options.WebhookRoots.AddCert(s.receiver.Certificate())
	onStage(t, options, func(t *testing.T, inner *stage) {
		s.stage = inner
		test(t, s)
	})
}

func (s *hookStage) receive(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, password, ok := r.BasicAuth(); ok {
		s.users[name+":"+password]++
	}
	w.WriteHeader(s.status)
}

// response sets the status of the receiver from now on.
func (s *hookStage) response(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
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
		URI: s.receiver.URL + "/hook", Scope: []prepaid.CompanyID{prepaidtest.DefaultCompany}, FilterSpec: prepaid.FilterAll, Enabled: enabled,
		ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "key-1", HMACKeySecret: prepaid.NewSecret(hookSecret),
	}
}

// User information in a hook's address reaches the service and the receiver, but no printed text.
func TestE2EHookAddressWithUser(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	onHookStage(t, prepaidtest.Options{}, func(t *testing.T, s *hookStage) {
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
	})
}
