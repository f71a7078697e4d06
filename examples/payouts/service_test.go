package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The emulator pays, whatever goes wrong, and no payment twice if it is repeated as it should be.
func TestEmulatorGoesWrong(t *testing.T) {
	t.Parallel()
	s := emulated(t)
	defer func() { require.NoError(t, s.close()) }()
	client, err := prepaid.NewClient(s.config)
	require.NoError(t, err)
	defer client.Close()
	pay := func(n int) error {
		_, err := client.Accounts.Transfer(t.Context(), s.float, prepaid.TransferParams{
			RequestID: prepaid.RequestID(fmt.Sprint("r", n)), Amount: prepaid.Cents(100), DestinationAccountID: s.payees[0],
			Type: prepaid.TransferTypeLoad, SourceReference: "a", DestinationReference: "b",
		})
		return err
	}
	for n := range 9 {
		require.NoError(t, pay(n))
	}
	require.Equal(t, "9.00", s.emulator.Balance(s.payees[0]))
	require.True(t, s.lose(1))
	require.NoError(t, pay(9))
	require.Equal(t, 1, s.emulator.Movements("r9"))
	wrong := 0
	for n := 1; n <= 400; n++ {
		if f := s.fault(t.Context(), prepaidtest.Arrival{Operation: transferOperation, Ordinal: n}); f != (prepaidtest.Fault{}) && f.String()[:5] != "delay" {
			wrong++
		}
	}
	require.Equal(t, 40, wrong, "one in ten")
	require.Equal(t, prepaidtest.Fault{}, s.fault(t.Context(), prepaidtest.Arrival{Operation: "GET /accounts/{id}", Ordinal: 7}))
	require.False(t, (&service{}).lose(1))
	require.NoError(t, (&service{}).close())
}
