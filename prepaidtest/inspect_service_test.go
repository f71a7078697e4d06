package prepaidtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestSimulateIsTheSimulator(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	card := prepaid.AccountID(s.id)
	shop := Simulation{AccountID: card, Amount: "18.90", CardAcceptorID: "SHOP", TerminalID: "T", AcquirerID: "1", MerchantCategoryCode: "5942", Location: "Sydney"}
	bought := s.Simulate(shop)
	require.True(t, bought.Success, bought.Message)
	item := s.Transactions(s.id)[1]
	require.Equal(t, []string{string(bought.TransactionID), "1118", "-18.90", "SHOP", "T", "1", "5942", "Sydney"}, []string{
		string(item.ID), item.Type, item.Amount, item.CardAcceptorID, item.TerminalID, item.AcquirerID, item.MerchantCategoryCode, item.Reference,
	})
	require.Equal(t, []Authorization{{
		ID: bought.AuthorizationID, Type: "Purchase", Amount: "18.90", State: "open", TransactionID: bought.TransactionID,
		CardAcceptorID: "SHOP", TerminalID: "T", AcquirerID: "1", MerchantCategoryCode: "5942",
	}}, s.Authorizations(card))

	part := s.Simulate(Simulation{Operation: "reverse", AuthorizationID: bought.AuthorizationID, Amount: "8.90"})
	require.Equal(t, SimulationResult{AuthorizationID: bought.AuthorizationID, Success: true, Message: "Approved"}, part)
	require.Equal(t, "10.00", s.Authorizations(card)[0].Amount)
	require.True(t, s.Simulate(Simulation{Operation: "reverse", AuthorizationID: bought.AuthorizationID}).Success)
	require.Equal(t, "reversed", s.Authorizations(card)[0].State)
	require.Equal(t, "100.00", s.Balance(s.id))
	require.Equal(t, "There is no matching purchase authorisation", s.Simulate(Simulation{Operation: "reverse", AuthorizationID: bought.AuthorizationID}).Message)

	require.True(t, s.Simulate(Simulation{Type: "PosCredit", AccountID: card, Amount: "5"}).Success)
	cash := s.Simulate(Simulation{Type: "Withdrawal", AccountID: card, Amount: "20", MerchantCategoryCode: "6011"})
	require.True(t, s.Simulate(Simulation{Operation: "clear", AuthorizationID: cash.AuthorizationID}).Success)
	s.Advance(time.Minute)
	require.Equal(t, "cleared", s.Authorizations(card)[2].State)
	require.Equal(t, []string{"1118 -18.90", "1120 8.90", "1120 10.00", "1116 5.00", "1141 -20.00", "1117 20.00", "1115 -20.00"}, s.booked())
	require.Equal(t, "Insufficient funds", s.Simulate(Simulation{AccountID: card, Amount: "85.01"}).Message)
	require.Equal(t, "Invalid account", s.Simulate(Simulation{AccountID: "nobody", Amount: "1"}).Message)
	require.Equal(t, "An advice is for purchases", s.Simulate(Simulation{Operation: "advice", Type: "Withdrawal", AccountID: card, Amount: "1"}).Message)
}

func TestSimulateFailsTheTestOnMisuse(t *testing.T) {
	t.Parallel()
	test := &failures{TB: t}
	s := NewServer(test, Options{})
	id := s.AddAccount(SeedAccount{Balance: "5"})
	for want, wrong := range map[string]Simulation{
		"Operation": {Operation: "buy", AccountID: id, Amount: "1"}, "Type": {Type: "purchase", AccountID: id, Amount: "1"},
		"Amount": {AccountID: id}, "MerchantCategoryCode": {AccountID: id, Amount: "1", MerchantCategoryCode: "12"},
	} {
		before := len(test.messages)
		require.Equal(t, SimulationResult{}, s.Simulate(wrong))
		require.Len(t, test.messages, before+1)
		require.Contains(t, test.messages[before], want)
	}
	require.Empty(t, s.Authorizations("nobody"))
	require.Contains(t, test.messages[len(test.messages)-1], "does not exist")
}

func TestPolicyIsAsTheServiceShowsIt(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 7, Loop: ClosedLoop})
	c.AddCompany(Company{ID: 8, Loop: NoPolicy})
	c.post("policy/7/categories", `{"reason":"r","add":[742,9998]}`).ok()
	c.post("policy/7/merchants", `{"reason":"r","add":[{"acquirer_id":1,"card_acceptor_id":"M","description":"d"}]}`).ok()
	c.post("policy/7/terminals", `{"reason":"r","add":[{"acquirer_id":2,"card_acceptor_id":"N","terminal_id":"T","card_acceptor_name_location":"L"}]}`).ok()
	got, ok := c.Policy(7)
	require.True(t, ok)
	require.Equal(t, Policy{
		DefaultAction: "deny", Categories: []PolicyCategory{{"0742", "Veterinary services"}, {"9998", ""}},
		Merchants: []PolicyMerchant{{AcquirerID: 1, CardAcceptorID: "M", Description: "d", ID: 1}},
		Terminals: []PolicyTerminal{{AcquirerID: 2, CardAcceptorID: "N", TerminalID: "T", NameLocation: "L", ID: 2}},
	}, got)
	open, ok := c.Policy(DefaultCompany)
	require.True(t, ok)
	require.Equal(t, Policy{DefaultAction: "allow"}, open)
	for _, none := range []prepaid.CompanyID{8, 9} {
		_, ok = c.Policy(none)
		require.False(t, ok)
	}
	id := c.AddAccount(SeedAccount{CompanyID: 7})
	c.AddAccount(SeedAccount{})
	require.Equal(t, []prepaid.AccountID{prepaid.AccountID(id)}, c.CompanyAccountIDs(7))
	require.Empty(t, c.CompanyAccountIDs(9))
}

func TestReportRunsHaveTheirStates(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, ReportDelay: time.Minute})
	c.AddAccount(SeedAccount{Balance: "5"})
	c.AddReportCSV("fixed", "a,b\n1,2\n3,4\n")
	c.AddReport("made", func(w io.Writer, _ bool) (int, error) {
		_, err := io.WriteString(w, "x\n")
		return 7, err
	})
	require.Equal(t, []string{DailySettlement, "fixed", "made"}, c.ReportTemplates())
	require.Empty(t, c.ReportRuns())
	began := c.Now()
	settled, fixed := c.report(DailySettlement), c.report("fixed")
	c.Advance(time.Second)
	made := c.report("made")
	runs := c.ReportRuns()
	require.Equal(t, ReportRun{made, "made", ReportProcessing, true, began.Add(time.Second), began.Add(61 * time.Second), began.Add(time.Second + 4*time.Hour), -1}, runs[2])
	require.Equal(t, []int{1, 2}, []int{runs[0].Records, runs[1].Records})
	_, err := c.WriteReport(io.Discard, made)
	require.ErrorIs(t, err, ErrNoReport)

	c.Advance(time.Minute)
	require.Equal(t, ReportReady, c.ReportRuns()[2].State)
	for run, want := range map[string]string{fixed: "a,b\n1,2\n3,4\n", made: "x\n"} {
		var text bytes.Buffer
		_, err = c.WriteReport(&text, run)
		require.NoError(t, err)
		require.Equal(t, want, text.String())
	}
	records, err := c.WriteReport(io.Discard, settled)
	require.NoError(t, err)
	require.Equal(t, 1, records)
	_, err = c.WriteReport(io.Discard, "nothing")
	require.ErrorIs(t, err, ErrNoReport)
	broken := errors.New("no")
	c.AddReport("made", func(io.Writer, bool) (int, error) { return 0, broken })
	again := c.report("made")
	c.Advance(time.Minute)
	_, err = c.WriteReport(io.Discard, again)
	require.ErrorIs(t, err, broken)

	var state bytes.Buffer
	require.NoError(t, c.Save(&state))
	next := start(t, Options{FrozenClock: true, State: &state})
	require.Equal(t, []int{1, 2, -1, -1}, []int{next.ReportRuns()[0].Records, next.ReportRuns()[1].Records, next.ReportRuns()[2].Records, next.ReportRuns()[3].Records})
	c.Advance(4 * time.Hour)
	require.Equal(t, ReportExpired, c.ReportRuns()[0].State)
	_, err = c.WriteReport(io.Discard, settled)
	require.ErrorIs(t, err, ErrNoReport)
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

func TestAccessTokensHaveNoText(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{FrozenClock: true, TokenLifetime: time.Hour})
	require.Empty(t, c.AccessTokens())
	first := c.Now()
	c.token = c.newToken()
	c.get("accounts?client_id=acme&client_account_key=k")
	c.Advance(time.Minute)
	c.newToken()
	require.Equal(t, []AccessToken{{first, first.Add(time.Hour), 1}, {first.Add(time.Minute), first.Add(61 * time.Minute), 0}}, c.AccessTokens())

	var state bytes.Buffer
	require.NoError(t, c.Save(&state))
	next := start(t, Options{FrozenClock: true, State: &state})
	require.True(t, next.AccessTokens()[0].IssuedAt.IsZero(), "a saved one")
	require.Len(t, next.AccessTokens(), 3)

	c.Advance(time.Hour - time.Minute)
	require.Len(t, c.AccessTokens(), 1, "the first has expired")
	c.RevokeTokens()
	require.Empty(t, c.AccessTokens())
}

func TestRateWindowsCountByAddress(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{FrozenClock: true, RateLimit: 3, RateWindow: 10 * time.Second})
	require.Empty(t, c.RateWindows())
	now := c.Now()
	for range 5 {
		c.send(http.MethodGet, "accounts/x", "", http.Header{})
	}
	require.Equal(t, []RateWindow{{"127.0.0.1", 3, 3, now.Add(10 * time.Second), 2}}, c.RateWindows())
	c.Advance(10 * time.Second)
	require.Equal(t, []RateWindow{{"127.0.0.1", 0, 3, now.Add(10 * time.Second), 2}}, c.RateWindows())
	c.send(http.MethodGet, "accounts/x", "", http.Header{})
	require.Equal(t, []int{1, 2}, []int{c.RateWindows()[0].Used, c.RateWindows()[0].Refused})
	require.Empty(t, start(t, Options{RateLimit: -1}).RateWindows())
}
