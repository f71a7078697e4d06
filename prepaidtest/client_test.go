package prepaidtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestClientPaysOnceWhenTheResponseIsLost(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Options{})
	from, to := s.AddAccount(SeedAccount{Balance: "100.00"}), s.AddAccount(SeedAccount{})
	s.Inject(transferOperation, CommitThenDrop(), Respond(429, ""))
	key := prepaid.NewRequestID()
	_, err := s.Client().Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
		RequestID: key, Amount: prepaid.Cents(2550), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
	})
	require.NoError(t, err)
	require.Equal(t, 1, s.Movements(key))
	require.Equal(t, "74.50", s.Balance(from))
	require.Zero(t, s.FaultsLeft())
}

func TestConfigFollowsTheServer(t *testing.T) {
	t.Parallel()
	config := NewServer(t, Options{Vendor: "acme", ClientID: "id", ClientSecret: "secret", Production: true}).Config()
	require.NoError(t, config.Validate())
	require.Equal(t, "acme", config.Vendor)
	require.Equal(t, "id", config.ClientID)
	require.False(t, config.TestEnvironment)
	require.True(t, NewServer(t, Options{}).Config().TestEnvironment)
}
