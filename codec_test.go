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

// The text of a decoder's error is always dropped: no error of json is known to be safe.
func TestCanaryUndecodable(t *testing.T) {
	t.Parallel()
	const canary = "Cnry_Decoder_"
	text := errors.New(canary + "Error_")
	a := &response{status: 200, mediaType: canary + "Type_"}
	for _, err := range []error{
		&jsonv2.SemanticError{Err: text, JSONPointer: jsontext.Pointer("/" + text.Error())}, &jsontext.SyntacticError{Err: text},
		fmt.Errorf("%s: %w", text, &jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, errAmountSyntax)}),
	} {
		failure := a.undecodable(err)
		for inner := failure; inner != nil; inner = errors.Unwrap(inner) {
			asJSON, err := json.Marshal(inner)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v %s %q %s %v", inner, inner, inner, inner, inner, asJSON, err), canary)
		}
		require.ErrorAs(t, failure, new(*DecodeError))
	}
	require.ErrorIs(t, a.undecodable(&jsonv2.SemanticError{Err: fmt.Errorf("%w: %w", text, errAmountSyntax)}), errAmountSyntax)
}
