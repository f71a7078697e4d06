package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// OnHandled sees handled and suppressed messages, and nothing else; its panic changes nothing.
func TestOnHandled(t *testing.T) {
	t.Parallel()
	var seen []string
	var failure error
	h, err := NewHandler(Config{
		AllowUnverified: true,
		OnTransaction:   func(context.Context, *prepaid.Message) error { return failure },
		OnHandled: func(_ context.Context, m *prepaid.Message, duplicate bool) {
			word := "handled "
			if duplicate {
				word = "duplicate "
			}
			seen = append(seen, word+string(m.ID))
			panic("of a counter")
		},
	})
	require.NoError(t, err)
	message := func(id prepaid.MessageID, kind prepaid.MessageType) error {
		return h.Handle(t.Context(), &prepaid.Message{ID: id, HookID: "h", Type: kind})
	}
	require.NoError(t, message("1", prepaid.MessageTypeTransaction))
	require.NoError(t, message("1", prepaid.MessageTypeTransaction))
	require.NoError(t, message("2", "ping"), "it is only acknowledged")
	failure = errors.New("refused")
	require.ErrorIs(t, message("3", prepaid.MessageTypeTransaction), failure)
	failure = nil
	require.NoError(t, message("3", prepaid.MessageTypeTransaction))
	require.NoError(t, message("", prepaid.MessageTypeTransaction))
	require.Equal(t, []string{"handled 1", "duplicate 1", "handled 3", "handled "}, seen)
}

// A state is a word in JSON, as in text.
func TestClaimStateIsText(t *testing.T) {
	t.Parallel()
	for state, want := range map[ClaimState]string{ClaimWon: `"won"`, ClaimInFlight: `"in flight"`, ClaimDone: `"done"`, 0: `"invalid"`} {
		text, err := json.Marshal(state)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}
