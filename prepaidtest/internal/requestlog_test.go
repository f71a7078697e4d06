package internal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

func TestListedMembersAreShown(t *testing.T) {
	t.Parallel()
	routes := exchange.NewTable(nil)
	body := func(operation, text string) string {
		i := slices.IndexFunc(routes, func(r *exchange.Route) bool { return r.Name == operation })
		return requestlog.Body(routes[i], []byte(text), false)
	}
	for _, text := range []string{
		`{"initiating_user_id":"shopping", "initial_load_amount":0x1f}`, `{"registration":{"first_name":"José","last_name":"O\"Hara"}}`,
	} {
		require.Equal(t, text, body("Accounts.Create", text))
	}
	require.Equal(t, `{"uri":"https://shop.example/ping","hmac_key_id":"k1"}`, body("Hooks.Create", `{"uri":"https://shop.example/ping","hmac_key_id":"k1"}`))
	require.Equal(t, `{"add":[1,2],"reason":"<é>","more":"[REDACTED]"}`, body("Policy.ChangeCategories", `{"add":[1, 2], "reason":"<é>", "more":{"a":1}}`))
	require.Equal(t, `{"more":{"a":1},"Pin":"[REDACTED]"}`, requestlog.Body(routes[len(routes)-1], []byte(`{"more":{"a":1}, "Pin":"1"}`), true))
	require.Len(t, body("Accounts.Create", `{"display_name":"`+strings.Repeat("b", 16<<10)+`"}`), 16<<10)
	require.Equal(t, "grant_type=client_credentials", body("Token", "grant_type=client_credentials"))
}
