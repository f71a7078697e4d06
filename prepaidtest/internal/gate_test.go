package internal_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
)

// A state file is written when the number of changes has grown.
func TestTokens_Changes(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	tokens := gate.NewTokens(nil, gate.TokenOptions{})
	tokens.Put("saved", now.Add(time.Hour))
	changes := tokens.Changes()
	call := &exchange.Call{Request: &http.Request{Header: http.Header{"Authorization": {"Bearer saved"}}}, Route: new(exchange.Route), At: now}
	require.Nil(t, tokens.Authorise(call))
	require.Equal(t, changes, tokens.Changes(), "to look changes nothing")
	tokens.Revoke()
	require.Greater(t, tokens.Changes(), changes)
}
