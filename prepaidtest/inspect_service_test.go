package prepaidtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestAuthorizationsFollowTheSimulator(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	card := prepaid.AccountID(s.id)
	_, _, bought := s.run("transact", map[string]any{"amount": "18.90", "merchant_id": "SHOP", "terminal_id": "T", "acquirer_id": "1", "mcc": "5942"})
	open := s.Authorizations(card)
	require.Equal(t, []Authorization{{
		ID: bought, Type: "Purchase", Amount: "18.90", State: "open", TransactionID: s.Transactions(s.id)[1].ID,
		CardAcceptorID: "SHOP", TerminalID: "T", AcquirerID: "1", MerchantCategoryCode: "5942",
	}}, open)
	_, _, other := s.run("transact", nil)
	s.run("reverse", map[string]any{"authorization_id": other, "amount": 4})
	require.Equal(t, "6.00", s.Authorizations(card)[1].Amount)
	s.run("reverse", map[string]any{"authorization_id": other, "amount": 6})
	require.Equal(t, "reversed", s.Authorizations(card)[1].State)
}

func TestAccountsOfACompany(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 7})
	id := c.AddAccount(SeedAccount{CompanyID: 7})
	c.AddAccount(SeedAccount{})
	require.Equal(t, []prepaid.AccountID{prepaid.AccountID(id)}, c.CompanyAccountIDs(7))
	require.Empty(t, c.CompanyAccountIDs(9))
}

func TestRunningTransfersAreThoseThatAFaultHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, from, to := bubble(t, Options{})
		require.Empty(t, c.RunningTransfers())
		c.Inject(transferOperation, ProxyPage(502).CommitAfter(12*time.Second), Delay(5*time.Second))
		c.Inject("PUT /accounts/{id}/plastic", DropBeforeCommit().CommitAfter(time.Minute))
		text := transferTo(t, to, map[string]any{"request_id": "r", "amount": 10.5})
		arrived := c.Now()
		require.Equal(t, 502, c.post("accounts/"+from+"/transfer", text).status)
		plastic := `{"plastic_enabled":true}`
		_, err := c.try("PUT", "accounts/"+from+"/plastic", plastic, c.header(plastic)) // continues, but no transfer
		require.Error(t, err)
		time.Sleep(2 * time.Second)
		go func() { _, _ = c.try("POST", "accounts/"+from+"/transfer", text, c.header(text)) }()
		time.Sleep(time.Second)
		require.Equal(t, []RunningTransfer{
			{transferOperation, "r", prepaid.AccountID(from), "10.5", arrived, 3 * time.Second, 9 * time.Second},
			{transferOperation, "r", prepaid.AccountID(from), "10.5", arrived.Add(2 * time.Second), time.Second, 4 * time.Second},
		}, c.RunningTransfers())
		time.Sleep(5 * time.Second)
		require.Len(t, c.RunningTransfers(), 1)
		require.Equal(t, 1, c.Movements("r"))
		require.NoError(t, c.WaitIdle(t.Context()))
		synctest.Wait()
		require.Empty(t, c.RunningTransfers())
		require.Equal(t, []prepaid.RequestID{"r"}, c.PaidTwice())
	})
}
