package contract

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// User information in a hook's address reaches the service, but no printed text.
func TestE2EHookAddressWithUser(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		config := s.Config()
		config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		client, err := prepaid.NewClient(config)
		require.NoError(t, err)
		params := harness.ValidHook()
		params.URI, params.Scope = "https://ann:hunter2@hooks.example/a", []prepaid.CompanyID{prepaidtest.DefaultCompany}
		made, err := client.Hooks.Create(t.Context(), params)
		require.NoError(t, err)
		hook, err := client.Hooks.Get(t.Context(), made)
		require.NoError(t, err)
		require.Equal(t, params.URI, hook.URI)
		s.Inject("PATCH /hooks/{id}", prepaidtest.Respond(400, "no_response"))
		refusal := client.Hooks.Update(t.Context(), made, prepaid.UpdateHookParams{URI: params.URI + "/2"})
		require.ErrorIs(t, refusal, prepaid.CodeNoResponse)
		params.HMACKeyID = ";"
		_, invalid := client.Hooks.Create(t.Context(), params)
		require.Error(t, invalid)
		require.NoError(t, client.Close()) // waits for goroutines that still write to the log
		slog.New(slog.NewJSONHandler(&log, nil)).Info("hook", "hook", hook, "params", params)
		fmt.Fprintf(&log, "%v %+v %#v %v %v %+v", hook, *hook, params, refusal, invalid, s.Requests())
		require.NotContains(t, log.String(), "hunter2")
		require.Contains(t, log.String(), "https://[REDACTED]@hooks.example")
	})
}
