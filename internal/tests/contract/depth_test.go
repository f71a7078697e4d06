package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A decoder that calls itself for each bracket would crash the process: no recover helps.
func TestDeepResponsesAreRefused(t *testing.T) {
	t.Parallel()
	const deep = 5 << 20
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"arrays":        {http.StatusOK, `{"unknown":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}"},
		"objects":       {http.StatusOK, strings.Repeat(`{"a":`, deep) + "0" + strings.Repeat("}", deep)},
		"without ends":  {http.StatusOK, strings.Repeat(`{"a":[`, deep)},
		"in an error":   {http.StatusBadRequest, `{"code":` + strings.Repeat("[", deep)},
		"in a throttle": {http.StatusTooManyRequests, `{"message":` + strings.Repeat(`{"a":`, deep)},
	} {
		for _, op := range []harness.Op{harness.OpGet(), harness.OpTransfer()} {
			t.Run(name+"/"+op.Name, func(t *testing.T) {
				t.Parallel()
				server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Respond(c.status, harness.VendorJSON, c.body) })
				config := harness.Config(server.Address)
				config.Retry.MaxAttempts = 1
				config.Retry.MaxThrottleWait = 1
				config.MaxResponseBytes = 64 << 20
				err := op.Call(t.Context(), harness.NewClient(t, config))
				require.Error(t, err)
				require.Less(t, len(err.Error()), 500)
				if c.status == http.StatusOK && op.Name == "Accounts.Transfer" {
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
				}
			})
		}
	}
}
