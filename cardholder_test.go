package prepaid

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A service that writes every date with a time, or every empty member, does not make long lists slow.
func TestCardholderIsKeptAtLittleCost(t *testing.T) {
	for _, member := range []string{`"title":""`, `"sex":"X"`, `"date_of_birth":"1990-05-03T14:00:00Z"`} {
		body := []byte(`{"personal":{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z",` +
			`"primary_address":{"state":"WA","country":"AU"},` + member + `}}`)
		var account Account
		require.Less(t, testing.AllocsPerRun(10, func() { require.True(t, readWire(body, &account)) }), 20.0, member)
		require.NotEmpty(t, account.Personal.received)
	}
}
