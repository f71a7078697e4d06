package contract

import (
	"net/http"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A decoder that calls itself for each bracket would crash the process: no recover helps. With this limit, it crashes even if a
// call needs only 16 bytes of the stack.
func TestDeepResponsesAreRefused(t *testing.T) {
	t.Parallel()
	const deep, stack = 1 << 19, 8 << 20
	before := debug.SetMaxStack(stack)
	t.Cleanup(func() { debug.SetMaxStack(before) })
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
				config := harness.NewScript(harness.Respond(c.status, harness.VendorJSON, c.body)).Config()
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
