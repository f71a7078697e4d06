package prepaid_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

type (
	ownWord   string
	ownLetter string
	ownCard   struct {
		Status prepaid.AccountStatus `json:"status"`
	}
)

func (ownWord) Known() bool   { return true }
func (ownLetter) Known() bool { return true }
func (ownCard) Known() bool   { return true }

func (l *ownLetter) UnmarshalJSON(data []byte) error {
	*l = ownLetter(data[1:2])
	return nil
}

// A caller's own type that looks like one of these is read as the library reads it.
func TestOptionsLeaveTheCallersTypes(t *testing.T) {
	t.Parallel()
	m := prepaid.Message{Raw: []byte(`{"word":"w","letter":"long","status":7,"amount":"1.5","card":{"status":8}}`)}
	var own struct {
		Word   ownWord               `json:"word"`
		Letter ownLetter             `json:"letter"`
		Status prepaid.AccountStatus `json:"status"`
		Amount prepaid.Amount        `json:"amount"`
		Card   *ownCard              `json:"card"`
	}
	require.NoError(t, m.Decode(&own))
	require.Equal(t, prepaid.AccountStatus("8"), own.Card.Status, "the members of a caller's type are ours")
	require.Equal(t, ownWord("w"), own.Word)
	require.Equal(t, ownLetter("l"), own.Letter)
	require.Equal(t, prepaid.AccountStatus("7"), own.Status)
	require.Equal(t, prepaid.MustAmount("1.5"), own.Amount)
	m.Raw = []byte(`{"word":7}`)
	require.Error(t, m.Decode(&own))
}
