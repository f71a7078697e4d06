//go:build unix

package programs

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/built"
)

// deployment is an emulator that examples/quickstart uses as the real test environment.
type deployment struct {
	*prepaidtest.Server

	float       prepaid.AccountID
	environment []string
}

func newDeployment(t *testing.T) deployment {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{SimulationDelay: -1})
	float := srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"})
	return deployment{srv, float, append(environmentOf(srv), "PREPAID_COMPANY_ID="+prepaidtest.DefaultCompany.String(),
		"PREPAID_PROGRAM_CLIENT_ID="+prepaidtest.DefaultProgramClientID, "PREPAID_FLOAT_ACCOUNT="+string(float))}
}

func (d deployment) quickstart(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	return run(t, d.environment, "quickstart", append([]string{"-pause", "0"}, args...)...)
}

// done is quickstart for a run without an error.
func (d deployment) done(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := d.quickstart(t, args...)
	require.Zero(t, code, out+errOut)
	return out
}

func (d deployment) rules(t *testing.T) (codes []prepaid.MCC) {
	t.Helper()
	policy, err := d.Client().Policy.Categories(t.Context(), prepaidtest.DefaultCompany)
	require.NoError(t, err)
	for _, rule := range policy.Categories {
		codes = append(codes, rule.MerchantCategoryCode)
	}
	return codes
}

func TestQuickstartCommandLine(t *testing.T) {
	t.Parallel()
	code, _, errOut := run(t, nil, "quickstart", "-h")
	require.Zero(t, code)
	for _, want := range []string{"PREPAID_CLIENT_SECRET_FILE", "PREPAID_ENVIRONMENT", "a card is loaded once per day"} {
		require.Contains(t, errOut, want)
	}
	for _, args := range [][]string{{"-nonsense"}, {"stray"}, {"-day", "today"}} {
		code, _, errOut := run(t, nil, "quickstart", args...)
		require.Equal(t, 2, code, args)
		require.NotEmpty(t, errOut)
	}
}

// Nothing is sent if the environment is production, by name or by default, or an unknown word.
func TestProductionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	for _, environment := range []string{"production", "", "staging"} {
		code, out, errOut := run(t, append(d.environment, "PREPAID_ENVIRONMENT="+environment), "quickstart")
		require.Equal(t, 2, code, out)
		require.Contains(t, errOut, "PREPAID_ENVIRONMENT must be")
		require.Empty(t, out)
	}
	require.Empty(t, d.Requests())
}

// A second run finds the same cards. It loads none again on the same day, and each on another day. A card blocked in
// between stays blocked.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	now := time.Now()
	today, yesterday := now.Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly)
	require.Contains(t, d.done(t, "-day", yesterday), "the loads of "+yesterday+"; each day has its own")
	require.Equal(t, "9549.50", d.Balance(d.float))
	accounts := d.AccountIDs()

	var blocked prepaid.AccountID
	for _, id := range accounts {
		if d.Account(id).Key == "emp-3" {
			blocked = id
		}
	}
	require.NoError(t, d.Client().Accounts.SetStatus(t.Context(), blocked, prepaid.SetStatusParams{Status: prepaid.AccountStatusInactive}))
	out := d.done(t, "-day", yesterday, "-again")
	require.Equal(t, 3, strings.Count(out, "existed"))
	require.Regexp(t, `emp-3 +none +is inactive: left unchanged`, out)
	require.Equal(t, "inactive", d.Account(blocked).Status)
	require.Equal(t, "9549.50", d.Balance(d.float))
	require.Equal(t, accounts, d.AccountIDs())

	require.Contains(t, d.done(t, "-day", today, "-again"), "the loads of "+today)
	require.Equal(t, "9179.00", d.Balance(d.float), "the two that are active")
}

// The emulator's clock may be ahead: every history is still read to its end, and adds up.
func TestEmulatorAMonthAhead(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.Advance(31 * 24 * time.Hour)
	require.Equal(t, 3, strings.Count(d.done(t), "  adds up"))
}

// The program's own rule is not removed.
func TestRuleOfTheProgramStays(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	require.NoError(t, d.Client().Policy.ChangeCategories(t.Context(), prepaidtest.DefaultCompany,
		prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}}))
	require.Contains(t, d.done(t), "skipped: a rule for category 7995 exists")
	require.Equal(t, []prepaid.MCC{"7995"}, d.rules(t))
}

// A rule that may still exist is never reported as removed.
func TestRuleNotRemoved(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.Inject("POST /policy/{id}/categories", prepaidtest.Delay(0), prepaidtest.Respond(403, "").Always())
	code, out, errOut := d.quickstart(t)
	require.Equal(t, 1, code, errOut)
	require.Contains(t, out, "rule for category 7995 added")
	require.Contains(t, errOut, "the rule for category 7995 may still exist; check, and remove it manually")
	require.NotContains(t, out, "rule removed again")
}

// An interrupted run ends at once with one line and leaves no rule behind.
func TestQuickstartInterrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operation string
		ordinal   int // of the request in which the program is interrupted
		after     string
	}{
		"1. Check": {"POST /token", 1, "2. Issue"}, "2. Issue": {"POST /accounts", 1, "4. Buy"},
		"4. Buy": {"POST /simulation/transact", 1, "5. Transfer"}, "rule for category 7995 added": {"POST /simulation/transact", 4, "8. Run"},
		"8. Run": {"GET /reporting/templates/{templatename}", 1, "9. Lose"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeployment(t)
			arrived := make(chan struct{})
			once := sync.OnceFunc(func() { close(arrived) })
			d.Decide(func(ctx context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
				if a.Operation == c.operation && a.Ordinal == c.ordinal {
					once()
					<-ctx.Done()
				}
				return prepaidtest.Fault{}
			})
			started := built.Start(t, program(t, append(d.environment, "PREPAID_REPORT_TEMPLATE="+prepaidtest.DailySettlement), "quickstart", "-pause", "0"))
			started.Await(arrived)
			require.Equal(t, 1, started.Stop(os.Interrupt))
			out, errOut := started.Out.String(), started.ErrOut.String()
			require.Regexp(t, "^quickstart: step [0-9]+: .*context canceled\n$", errOut)
			require.Contains(t, out, name)
			require.NotContains(t, out, c.after)
			require.NotContains(t, out, "context canceled")
			d.Decide(nil)
			require.Empty(t, d.rules(t))
			if c.ordinal == 4 {
				require.Contains(t, out, "rule removed again")
			}
		})
	}
}
