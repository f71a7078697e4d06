package prepaid_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

type (
	ownLetter string
	ownCard   struct {
		prepaid.AccountStatus `json:"status"`
	}
)

func (l *ownLetter) UnmarshalJSON(data []byte) error {
	*l = ownLetter(data[1:2])
	return nil
}

// A caller's own type that embeds one of these is read as the library reads it.
func TestOptionsLeaveTheCallersTypes(t *testing.T) {
	t.Parallel()
	m := prepaid.Message{Raw: []byte(`{"letter":"long","status":7,"amount":"1.5","card":{"status":8}}`)}
	var own struct {
		Letter ownLetter             `json:"letter"`
		Status prepaid.AccountStatus `json:"status"`
		Amount prepaid.Amount        `json:"amount"`
		Card   *ownCard              `json:"card"`
	}
	require.NoError(t, m.Decode(&own))
	require.Equal(t, prepaid.AccountStatus("8"), own.Card.AccountStatus, "the members of a caller's type are ours")
	require.Equal(t, ownLetter("l"), own.Letter)
	require.Equal(t, prepaid.AccountStatus("7"), own.Status)
	require.Equal(t, prepaid.MustAmount("1.5"), own.Amount)
}
