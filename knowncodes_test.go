package prepaid

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The values of the reference are known; the default, another spelling and a code that it does not name are not.
func TestRequestAndTransactionTypesKnown(t *testing.T) {
	t.Parallel()
	for _, value := range []RequestType{"new", "replace"} {
		require.True(t, value.Known(), string(value))
	}
	for _, value := range []RequestType{"", "NEW", "renew"} {
		require.False(t, value.Known(), string(value))
	}
	for _, code := range []TransactionType{"1115", "1116", "1117", "1118", "1120", "1125", "1141", "2950"} {
		require.True(t, code.Known(), string(code))
	}
	for _, code := range []TransactionType{"", "1119", "2951", "02950", "9999"} {
		require.False(t, code.Known(), string(code))
	}
}
