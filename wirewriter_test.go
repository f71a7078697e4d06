package prepaid

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// Payments are written byte for byte as the options write them.
func TestWireWriterWritesAsTheOptionsDo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "Zoë & <b>", "a\"b\\c/d", "tab\t line\n \x00 \x7f \u2028", "\U0001F4B3", "long enough for words of eight \x1f"} {
		for _, body := range []wireWritable{
			TransferParams{RequestID: RequestID(text), Amount: Cents(2550), SourceReference: text, DestinationReference: text,
				DestinationAccountID: AccountID(text), Type: TransferTypeLoad, InitiatorUsername: text},
			TransferParams{SourceReference: text, Type: -7},
			DirectEntryOutParams{RequestID: RequestID(text), Amount: MustAmount("-0.125"), SourceReference: text, DestinationReference: text,
				Destination: BankAccount{BSB: text, AccountNumber: text, AccountName: text}, BSB: text, InitiatingUserID: text},
			DirectEntryOutParams{},
		} {
			want, err := json.Marshal(body, encodeOptions)
			require.NoError(t, err)
			got, ok := writeWire(body)
			require.True(t, ok)
			require.Equal(t, string(want), string(got))
			encoded, err := encode(body)
			require.NoError(t, err)
			require.Equal(t, want, encoded)
		}
	}
}

// What is no text is refused as the options refuse it.
func TestWireWriterRefuses(t *testing.T) {
	t.Parallel()
	body := TransferParams{SourceReference: "bad \xff"}
	_, ok := writeWire(body)
	require.False(t, ok)
	_, err := encode(body)
	require.Error(t, err)
}
