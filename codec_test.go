package prepaid

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

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

// FuzzTime reads any text as a date-time: what RFC 3339 allows comes out the same, and all is in UTC.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"", "2026-11-03T10:20:30Z", "2026-11-03T10:20:30.123456789+11:00", "2026-11-03", "2026-11-03 10:20:30", "2026-11-03T10:20Z",
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "2026-02-30T00:00:00Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTime(text)
		want, wantErr := time.Parse(time.RFC3339, text)
		if wantErr == nil {
			require.NoError(t, err)
			require.True(t, want.Equal(got))
		}
		if err == nil {
			require.Equal(t, time.UTC, got.Location())
		}
	})
}

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
