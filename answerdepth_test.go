package prepaid_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// A decoder that calls itself for each bracket would end the process, which no recover stops.
func TestDeepAnswersAreRefused(t *testing.T) {
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
		for _, op := range []coreOp{opGet(), opTransfer()} {
			t.Run(name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				server := newWireServer(t, func(_ int, p *peer) { p.respond(c.status, vendorJSON, c.body) })
				config := coreConfig(server.address)
				config.Retry.MaxAttempts = 1
				config.Retry.MaxThrottleWait = 1
				config.MaxResponseBytes = 64 << 20
				err := op.call(t.Context(), newCoreClient(t, config))
				require.Error(t, err)
				require.Less(t, len(err.Error()), 500)
				if c.status == http.StatusOK && op.name == "Accounts.Transfer" {
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
				}
			})
		}
	}
}
