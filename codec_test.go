package prepaid

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// Whatever text a decoder's error has, it is dropped: no error of json's own is known to be safe.
func TestCanaryUndecodable(t *testing.T) {
	t.Parallel()
	const canary = "Cnry_Decoder_"
	text := errors.New(canary + "Error_")
	a := &response{status: 200, mediaType: canary + "Type_"}
	for _, err := range []error{
		&jsonv2.SemanticError{Err: text, JSONPointer: jsontext.Pointer("/" + text.Error())}, &jsontext.SyntacticError{Err: text},
		fmt.Errorf("%s: %w", text, &jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, ErrAmountSyntax)}),
	} {
		failure := a.undecodable(err)
		for inner := failure; inner != nil; inner = errors.Unwrap(inner) {
			asJSON, err := json.Marshal(inner)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v %s %q %s %v", inner, inner, inner, inner, inner, asJSON, err), canary)
		}
		_, ok := errors.AsType[*DecodeError](failure)
		require.True(t, ok)
	}
	require.ErrorIs(t, a.undecodable(&jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, ErrAmountSyntax)}), ErrAmountSyntax)
}

// A service that writes every date with a time, or every empty member, does not make long lists slow.
func TestCardholderIsKeptAtLittleCost(t *testing.T) {
	for _, member := range []string{`"title":""`, `"sex":"X"`, `"date_of_birth":"1990-05-03T14:00:00Z"`} {
		body := []byte(`{"personal":{"first_name":"A","last_name":"B","date_of_birth":"1990-05-03T00:00:00Z",` +
			`"primary_address":{"state":"WA","country":"AU"},` + member + `}}`)
		var account Account
		require.Less(t, testing.AllocsPerRun(10, func() { require.True(t, readItem(body, &account)) }), 20.0, member)
		require.NotEmpty(t, account.Cardholder.received)
	}
}
