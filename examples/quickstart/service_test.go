package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// service is an emulator in the place of the real test environment.
func service(t *testing.T) (srv *prepaidtest.Server, float prepaid.AccountID) {
	t.Helper()
	srv = prepaidtest.NewServer(t, prepaidtest.Options{SimulationDelay: -1})
	float = srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"})
	config := srv.Config()
	for name, value := range map[string]string{
		"PREPAID_BASE_URL": config.BaseURL, "PREPAID_VENDOR": config.Vendor, "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": config.ClientID, "PREPAID_CLIENT_SECRET": config.ClientSecret.Reveal(),
		"PREPAID_COMPANY_ID":        prepaidtest.DefaultCompany.String(),
		"PREPAID_PROGRAM_CLIENT_ID": prepaidtest.DefaultProgramClientID, "PREPAID_FLOAT_ACCOUNT": string(float),
	} {
		t.Setenv(name, value)
	}
	return srv, float
}

func rules(t *testing.T, srv *prepaidtest.Server) (codes []prepaid.MCC) {
	t.Helper()
	policy, err := srv.Client().Policy.Categories(t.Context(), prepaidtest.DefaultCompany)
	require.NoError(t, err)
	for _, rule := range policy.Categories {
		codes = append(codes, rule.MerchantCategoryCode)
	}
	return codes
}

// Nothing is sent if the environment is production, by name or by default, or an unknown word.
func TestProductionIsRefused(t *testing.T) {
	srv, _ := service(t)
	for _, environment := range []string{"production", "", "staging"} {
		t.Setenv("PREPAID_ENVIRONMENT", environment)
		code, out, errOut := runWith(t, "-pause", "0")
		require.Equal(t, 2, code, out)
		require.Contains(t, errOut, "PREPAID_ENVIRONMENT must be")
		require.Empty(t, out)
	}
	require.Empty(t, srv.Requests())
}

// A second run finds the same cards. It loads none again on the same day, and each on another day. A card blocked in
// between stays blocked.
func TestRunAgain(t *testing.T) {
	srv, float := service(t)
	now := time.Now()
	today, yesterday := now.Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly)
	code, out, errOut := runWith(t, "-pause", "0", "-day", yesterday)
	require.Zero(t, code, out+errOut)
	require.Contains(t, out, "the loads of "+yesterday+"; each day has its own")
	require.Equal(t, "9549.50", srv.Balance(float))
	accounts := srv.AccountIDs()

	var blocked prepaid.AccountID
	for _, id := range accounts {
		if srv.Account(id).Key == "emp-3" {
			blocked = id
		}
	}
	require.NoError(t, srv.Client().Accounts.SetStatus(t.Context(), blocked, prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive}))
	code, out, errOut = runWith(t, "-pause", "0", "-day", yesterday, "-again")
	require.Zero(t, code, out+errOut)
	require.Equal(t, 3, strings.Count(out, "existed"))
	require.Regexp(t, `emp-3 +none +is inactive: left unchanged`, out)
	require.Equal(t, "inactive", srv.Account(blocked).Status)
	require.Equal(t, "9549.50", srv.Balance(float))
	require.Equal(t, accounts, srv.AccountIDs())

	code, out, errOut = runWith(t, "-pause", "0", "-day", today, "-again")
	require.Zero(t, code, out+errOut)
	require.Contains(t, out, "the loads of "+today)
	require.Equal(t, "9179.00", srv.Balance(float), "the two that are active")
}

// The emulator's clock may be ahead: every history is still read to its end, and adds up.
func TestEmulatorAMonthAhead(t *testing.T) {
	srv, _ := service(t)
	srv.Advance(31 * 24 * time.Hour)
	code, out, errOut := runWith(t, "-pause", "0")
	require.Zero(t, code, out+errOut)
	require.Equal(t, 3, strings.Count(out, "  adds up"))
}

// The program's own rule is not removed.
func TestRuleOfTheProgramStays(t *testing.T) {
	srv, _ := service(t)
	require.NoError(t, srv.Client().Policy.ChangeCategories(t.Context(), prepaidtest.DefaultCompany,
		prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{gambling}}))
	code, out, errOut := runWith(t, "-pause", "0")
	require.Zero(t, code, out+errOut)
	require.Contains(t, out, "skipped: a rule for category 7995 exists")
	require.Equal(t, []prepaid.MCC{gambling}, rules(t, srv))
}

// A rule that may still exist is never reported as removed.
func TestRuleNotRemoved(t *testing.T) {
	srv, _ := service(t)
	out := &trigger{at: "rule for category 7995 added", do: func() {
		srv.Inject("POST /policy/{id}/categories", prepaidtest.Respond(403, "").Always())
	}}
	var errOut bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-pause", "0"}, out, &errOut), errOut.String())
	require.Contains(t, errOut.String(), "the rule for category 7995 may still exist; check, and remove it manually")
	require.NotContains(t, out.String(), "rule removed again")
}

// An interrupted run ends at once with one line and leaves no rule behind.
func TestInterrupted(t *testing.T) {
	srv, _ := service(t)
	for at, after := range map[string]string{
		"1. Check": "2. Issue", "2. Issue": "4. Buy", "4. Buy": "5. Transfer", "rule for category 7995 added": "8. Run", "8. Run": "9. Lose",
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &trigger{at: at, do: interrupt}
		var errOut bytes.Buffer
		require.Equal(t, 1, run(ctx, []string{"-pause", "200ms"}, out, &errOut))
		require.Regexp(t, "^quickstart: step [0-9]+: .*context canceled\n$", errOut.String())
		require.Contains(t, out.String(), at)
		require.NotContains(t, out.String(), "\n10.")
		if at != "1. Check" {
			require.NotContains(t, out.String(), after)
		}
		require.NotContains(t, out.String(), "context canceled")
		require.Empty(t, rules(t, srv), at)
		if at == "rule for category 7995 added" {
			require.Contains(t, out.String(), "rule removed again")
		}
	}
}

// A created card that is not seen ends the issuing: with a wrong client_id each line would create another.
func TestCardNotSeen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	q := &quickstart{day: prepaid.DateOf(time.Now()), out: &out}
	defer q.tearDown()
	require.NoError(t, q.setUp())
	q.program, q.look = "another", time.Millisecond
	accounts := len(q.emulator.AccountIDs())
	require.ErrorContains(t, q.issue(t.Context()), "check the program's client_id before you run this again")
	require.Len(t, q.emulator.AccountIDs(), accounts+1)
	require.Empty(t, q.cards)
}

// trigger acts once when a text is written.
type trigger struct {
	bytes.Buffer

	at   string
	do   func()
	once sync.Once
}

func (t *trigger) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(t.at)) {
		t.once.Do(t.do)
	}
	return t.Buffer.Write(p)
}
