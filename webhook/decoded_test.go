package webhook

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

type kinds struct{ got []string }

func (k *kinds) named(name string) func(context.Context, *prepaid.Message) error {
	return func(context.Context, *prepaid.Message) error {
		k.got = append(k.got, name)
		return nil
	}
}

func TestFunctionsByType(t *testing.T) {
	t.Parallel()
	var k kinds
	types := map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{
		"alert": k.named("alert"), "ping": k.named("ping"),
	}
	handler := newHandler(t, Config{
		AllowUnverified: true, OnTransaction: k.named("transaction"), OnType: types, OnOther: k.named("other"),
	})
	delete(types, "alert") // which the Handler does not see
	for _, body := range []string{
		`{"id":"1","type":"transaction"}`, `{"id":"2","type":"ping"}`, `{"id":"3","type":"alert"}`, `{"id":"4","type":"news"}`,
		`{"id":"5"}`, `{"id":"6","type":"Ping"}`, `{"id":"2","type":"ping"}`, `{"type":"alert"}`, `{"type":"alert"}`,
	} {
		require.Equal(t, 200, post(t, handler, body).Code, body)
	}
	require.Equal(t, []string{"transaction", "ping", "alert", "other", "other", "other", "alert", "alert"}, k.got)

	handler = newHandler(t, Config{
		AllowUnverified: true, OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{
			prepaid.MessageTypeTransaction: func(context.Context, *prepaid.Message) error { return errors.New("busy") },
		},
	})
	require.Equal(t, 500, post(t, handler, transaction).Code)
	require.Equal(t, 200, post(t, handler, `{"id":"1","hook_id":"never seen","type":"ping"}`).Code)
}

func TestFunctionsByTypeAreChecked(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"on_type must have no empty type":            {OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{"": ignore}},
		"on_type must have a function for each type": {OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{"x": nil}},
		"on_type must not have the type that on_transaction handles": {OnTransaction: ignore, OnType: map[prepaid.MessageType]func(context.Context, *prepaid.Message) error{
			prepaid.MessageTypeTransaction: ignore,
		}},
	} {
		c.AllowUnverified = true
		_, err := NewHandler(c)
		require.ErrorContains(t, err, want)
		require.Len(t, fields(t, err), 1)
	}
}

func TestDecoded(t *testing.T) {
	t.Parallel()
	type payload struct {
		Amount int    `json:"amount"`
		Note   string `json:"note"`
	}
	var got []payload
	var seen recorder
	refusal := errors.New("refused")
	handler := newHandler(t, Config{
		AllowUnverified: true, OnFailure: seen.fail,
		OnTransaction: Decoded(func(_ context.Context, m *prepaid.Message, p payload) error {
			got = append(got, p)
			if m.ID == "no" {
				return refusal
			}
			return nil
		}),
	})
	require.Equal(t, 200, post(t, handler, `{"id":"1","type":"transaction","amount":5,"note":"a"}`).Code)
	require.Equal(t, 200, post(t, handler, `{"id":"2","type":"transaction","more":true}`).Code, "nothing is left of the one before")
	require.Equal(t, 500, post(t, handler, `{"id":"3","type":"transaction","amount":"SECRET"}`).Code)
	require.Equal(t, 500, post(t, handler, `{"id":"no","type":"transaction"}`).Code)
	require.Equal(t, []payload{{5, "a"}, {}, {}}, got)
	_, decoding := errors.AsType[*prepaid.DecodeError](seen.failed()[0].err)
	require.True(t, decoding)
	require.NotContains(t, seen.failed()[0].err.Error(), "SECRET")
	require.Equal(t, failure{http.StatusInternalServerError, refusal}, seen.failed()[1])
}
