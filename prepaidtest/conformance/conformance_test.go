package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// emulator is a target with all settings, and everything allowed except the rate limit. In memory, it is for a bubble.
func emulator(t *testing.T, options prepaidtest.Options) Target {
	t.Helper()
	options.RetryAfter = true
	options.RateLimit = cmp.Or(options.RateLimit, -1)
	options.ReportDelay, options.SimulationDelay = 10*time.Second, 30*time.Second
	options.StartAt = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) // after the history of the example
	srv := prepaidtest.NewServer(t, options)
	example, err := os.ReadFile("../testdata/seed.json")
	require.NoError(t, err)
	var document struct{ Accounts []map[string]any }
	require.NoError(t, json.Unmarshal(example, &document))
	account := document.Accounts[0] // every member
	account["company_id"], account["client_account_key"], account["balance"] = prepaidtest.DefaultCompany, "key 1", "100.00"
	account["corresponding_account_id"] = account["account_id"]
	example, err = json.Marshal(map[string]any{"accounts": []any{account}})
	require.NoError(t, err)
	require.NoError(t, srv.Load(bytes.NewReader(example)))
	target := Target{
		BaseURL: srv.URL, ClientID: "emulator-client", ClientSecret: "emulator-secret", Vendor: "vendor",
		CompanyID: int64(prepaidtest.DefaultCompany), ProgramClientID: prepaidtest.DefaultProgramClientID, AccountKey: "key 1",
		AccountID: "EA-MAYA", SecondAccountID: string(srv.AddAccount(prepaidtest.SeedAccount{Key: "key 2", Balance: "100.00"})),
		ReportTemplate: prepaidtest.DailySettlement, WalletProvider: "googlepay", HookReceiver: "https://receiver.example/hook",
		ApplicationID: "11111111-1111-4111-8111-111111111111", KeyID: "22222222-2222-4222-8222-222222222222",
		PayOutBSB: "633000", PayOutNumber: "12345678", PayOutName: "Conformance",
		Allow: Allow{
			MoveMoney: true, PayOut: true, CreateAccounts: true, ChangeAccounts: true, ChangePolicy: true, RunReports: true,
			Simulate: true, Funding: true, ChangeHooks: true,
		},
	}
	target.HTTPClient = &http.Client{Transport: &http.Transport{}}
	if options.InMemory {
		target.HTTPClient.Transport = srv.Config().Transport
	}
	t.Cleanup(target.HTTPClient.CloseIdleConnections)
	srv.AddApplication(target.ApplicationID, target.KeyID)
	p := &probe{target: target, context: t.Context}
	srv.InjectDelivery("", prepaidtest.LoseMessage().WithPings())
	p.call("Hooks.Create", values{"uri": "https://127.0.0.1:1/", "enabled": true, "reliability_mode": "store_undeliverable"}).is(201)
	srv.Adjust("EA-MAYA", "1.00") // makes the undeliverable message
	require.NoError(t, srv.WaitIdle(t.Context()))
	require.Contains(t, string(p.call("Hooks.List", nil).Body), `"last_undeliverable":"`)
	return target
}

const (
	noResponse = "4.8/no_response" // looks a name up, which no bubble can do
	rateLimit  = "8/rate_is_limited"
)

// faultsOf runs a case, which must not be skipped.
func faultsOf(t *testing.T, target Target, name string) []fault {
	t.Helper()
	cases := Cases()
	i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == name })
	require.NotEqual(t, -1, i, name)
	faults, skipped := cases[i].run(t.Context(), target)
	require.Empty(t, skipped)
	return faults
}

func TestRateLimitConforms(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]fault{
		100: nil,
		-1:  {{"8", "GET /policy/mccodes", "status", "more than 1,000 requests in 10 seconds must be refused with 429"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := emulator(t, prepaidtest.Options{InMemory: true, RateLimit: limit})
			target.Allow.SpendRateLimit = true
			require.Equal(t, want, faultsOf(t, target, rateLimit))
		})
	}
}

func TestZeroAllowLeavesNoTrace(t *testing.T) {
	t.Parallel()
	target := emulator(t, prepaidtest.Options{})
	target.Allow = Allow{}
	before := (&probe{target: target, context: t.Context}).history()
	names := map[string]bool{}
	ran := 0
	for _, c := range Cases() {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
		require.True(t, strings.HasPrefix(c.Name, c.Section+"/"), c.Name)
		faults, skipped := c.run(t.Context(), target)
		require.Empty(t, faults, c.Name)
		if skipped == "" {
			ran++
		}
	}
	require.Greater(t, ran, 80)
	require.Equal(t, before, (&probe{target: target, context: t.Context}).history())
}

func TestTargetFromEnv(t *testing.T) {
	set := func(name, value string) { t.Setenv("PREPAID_CONFORMANCE_"+name, value) }
	set("BASE_URL", "")
	_, found, err := TargetFromEnv()
	require.NoError(t, err)
	require.False(t, found)
	set("BASE_URL", "https://example.test/3.0/")
	set("CLIENT_ID", "id")
	set("CLIENT_SECRET", "secret")
	set("VENDOR", "vendor")
	set("COMPANY_ID", "42")
	set("SIMULATOR_WAIT", "45s")
	set("ALLOW", "MoveMoney, Simulate")
	target, found, err := TargetFromEnv()
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, Allow{MoveMoney: true, Simulate: true}, target.Allow)
	require.Equal(t, 45*time.Second, target.SimulatorWait)
	set("ALLOW", "Everything")
	set("COMPANY_ID", "x")
	set("VENDOR", "")
	_, _, err = TargetFromEnv()
	require.ErrorContains(t, err, "PREPAID_CONFORMANCE_ALLOW: must list fields of Allow")
	require.ErrorContains(t, err, "PREPAID_CONFORMANCE_COMPANY_ID: must be a number")
	require.ErrorContains(t, err, "Vendor: are required")
}

// TestTarget runs the suite against the environment that the variables name.
func TestTarget(t *testing.T) {
	target, found, err := TargetFromEnv()
	require.NoError(t, err)
	if !found {
		t.Skip("PREPAID_CONFORMANCE_BASE_URL is not set")
	}
	Run(t, target)
}
