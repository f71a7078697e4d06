package programs_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// explain is in docs/errors.md.
func explain(err error) string {
	if errors.Is(err, prepaid.ErrNotFound) { // matches the status; codes such as prepaid.CodeInvalidURI match too
		return "no such account"
	}
	if invalid, ok := errors.AsType[*prepaid.ValidationError](err); ok { // nothing was sent
		return fmt.Sprint("fix ", invalid.Faults)
	}
	if response, ok := errors.AsType[*prepaid.APIError](err); ok {
		return fmt.Sprint("the service refused it: ", response.StatusCode, " ", response.Code)
	}
	return err.Error() // never a secret, a name or an amount
}

func TestExplain(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client := srv.Client()
	_, err := client.Accounts.Get(t.Context(), "EA00000000000000")
	require.Equal(t, "no such account", explain(err))
	_, err = client.Accounts.Get(t.Context(), "")
	require.Contains(t, explain(err), "fix [")
	_, err = client.Hooks.Get(t.Context(), "none")
	require.Equal(t, "the service refused it: 400 invalid_hook_id", explain(err))
	client.Close()
	_, err = client.Accounts.Get(t.Context(), "EA00000000000000")
	require.Equal(t, err.Error(), explain(err))
}
