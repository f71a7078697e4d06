package prepaid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// The envelope of a message is read, and the complete message is kept as received.
func TestMessageUnmarshalJSON(t *testing.T) {
	t.Parallel()
	raw := `{ "id":"m-1","hook_id":"h-1","timestamp":"2026-11-05T11:02:03.5+10:00","type":"transaction","amount":5.10,"note":"CANARY" }`
	data := []byte(raw)
	message := &prepaid.Message{}
	require.NoError(t, message.UnmarshalJSON(data))
	for i := range data {
		data[i] = 'x' // the caller reuses its buffer
	}
	require.EqualValues(t, "m-1", message.ID)
	require.EqualValues(t, "h-1", message.HookID)
	require.Equal(t, prepaid.MessageTypeTransaction, message.Type)
	require.Equal(t, time.Date(2026, 11, 5, 1, 2, 3, 5e8, time.UTC), message.Timestamp)
	require.Equal(t, raw, string(message.Raw))

	var payload struct {
		Amount prepaid.Amount `json:"amount"`
	}
	require.NoError(t, message.Decode(&payload))
	require.Equal(t, prepaid.MustAmount("5.10"), payload.Amount)
	require.Error(t, message.Decode(&[]int{}))
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %v", *message, *message, *message, message.LogValue()), "CANARY")

	again, err := json.Marshal(message)
	require.NoError(t, err)
	require.JSONEq(t, raw, string(again))
	envelope, err := json.Marshal(prepaid.Message{ID: "m-2", Type: "ping", Timestamp: message.Timestamp})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"m-2","timestamp":"2026-11-05T01:02:03Z","type":"ping"}`, string(envelope))
}

// A ping may have no members. A value that is not an object is refused.
func TestMessageForms(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`{}`: true, ` {"id":null,"timestamp":"","type":null} `: true, `{"id":"m","extra":[1]}`: true, `{"id":7}`: true,
		``: false, `null`: false, `[]`: false, `"x"`: false, `{`: false, `{"id":[7]}`: false, `{"timestamp":"CANARY"}`: false, `{} {}`: false,
	} {
		var message prepaid.Message
		err := message.UnmarshalJSON([]byte(text))
		require.Equal(t, ok, err == nil, text)
		if !ok {
			_, isDecode := errors.AsType[*prepaid.DecodeError](err)
			require.True(t, isDecode)
			require.Zero(t, message)
			require.NotContains(t, err.Error(), "CANARY")
		}
	}
}

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
