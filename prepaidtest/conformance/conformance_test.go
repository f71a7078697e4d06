package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crypto/x509"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// emulator is a target with all settings, and everything allowed except the rate limit.
func emulator(t *testing.T, options prepaidtest.Options) Target {
	t.Helper()
	var pinged atomic.Bool
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if pinged.Swap(true) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	options.RetryAfter, options.WebhookRoots, options.DeliveryTimeout = true, roots, 2*time.Second
	options.RateLimit = cmp.Or(options.RateLimit, -1)
	options.ReportDelay, options.SimulationDelay = cmp.Or(options.ReportDelay, 40*time.Millisecond), cmp.Or(options.SimulationDelay, 2*time.Millisecond)
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
		SimulatorWait: 20 * time.Millisecond, ReportWait: 10 * time.Millisecond,
		Allow: Allow{
			MoveMoney: true, PayOut: true, CreateAccounts: true, ChangeAccounts: true, ChangePolicy: true, RunReports: true,
			Simulate: true, Funding: true, ChangeHooks: true,
		},
	}
	srv.AddApplication(target.ApplicationID, target.KeyID)
	s, done := newSession(target)
	defer done()
	p := &probe{session: s, context: t.Context, done: t.Context().Done()}
	hook := p.hookBody()
	hook["uri"], hook["enabled"], hook["reliability_mode"] = receiver.URL, true, "store_undeliverable"
	p.post("hooks", hook).status(201)
	require.Empty(t, p.faults)
	srv.Adjust("EA-MAYA", "1.00") // makes the undeliverable message
	require.Eventually(t, func() bool {
		return strings.Contains(string(p.get("hooks").body), `"last_undeliverable":"`)
	}, 5*time.Second, 5*time.Millisecond)
	return target
}

func TestRateLimitConforms(t *testing.T) {
	t.Parallel()
	target := emulator(t, prepaidtest.Options{RateLimit: 100, RateWindow: time.Second})
	target.Allow.SpendRateLimit = true
	require.Equal(t, result{}, runCase(t, target, "8/rate_is_limited"))
}

func TestEmulatorConforms(t *testing.T) {
	t.Parallel()
	for _, cleared := range []bool{true, false} {
		s, done := newSession(emulator(t, prepaidtest.Options{ClearOmittedMembers: cleared}))
		t.Cleanup(done)
		for _, c := range Cases() {
			if c.Name != "8/rate_is_limited" { // has its own test
				require.Equal(t, result{}, s.run(t.Context(), c), c.Name) // none is skipped
			}
		}
	}
}

func TestZeroAllowLeavesNoTrace(t *testing.T) {
	t.Parallel()
	target := emulator(t, prepaidtest.Options{})
	target.Allow = Allow{}
	s, done := newSession(target)
	defer done()
	before := (&probe{session: s, context: t.Context, done: t.Context().Done()}).history()
	ran := 0
	for _, c := range Cases() {
		r := s.run(t.Context(), c)
		require.Empty(t, r.faults, c.Name)
		if r.skipped == "" {
			ran++
		}
	}
	require.Greater(t, ran, 80)
	p := &probe{session: s, context: t.Context, done: t.Context().Done()}
	require.Equal(t, before, p.history())
}

func TestCasesAreWellNamedAndCoverEveryOperation(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	var looked, asked, all []string
	for _, c := range Cases() {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
		require.True(t, strings.HasPrefix(c.Name, c.Section+"/"), c.Name)
		if c.Section != "5" {
			looked = append(looked, c.Operation)
		} else if strings.HasPrefix(c.Name, "5/token_is_required_by_") {
			asked = append(asked, c.Operation)
		}
	}
	for _, row := range operations.All() {
		all = append(all, row.Method+" "+row.Path)
	}
	slices.Sort(looked)
	require.ElementsMatch(t, all, slices.Compact(looked))
	require.ElementsMatch(t, all, append(asked, "POST /token"))
}

func TestTargetPrintsNoSecret(t *testing.T) {
	t.Parallel()
	target := Target{BaseURL: "https://example.test/3.0/", ClientSecret: "canary"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(verb, target), "canary")
	}
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
	require.ErrorContains(t, err, "Vendor: is required")
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

func runCase(t *testing.T, target Target, name string) result {
	t.Helper()
	s, done := newSession(target)
	defer done()
	for _, c := range Cases() {
		if c.Name == name {
			return s.run(t.Context(), c)
		}
	}
	require.Fail(t, "no such case", name)
	return result{}
}

func TestMissingRateLimitIsCaught(t *testing.T) {
	t.Parallel()
	target := emulator(t, prepaidtest.Options{})
	target.Allow.SpendRateLimit = true
	require.Equal(t, []fault{{"8", "GET /policy/mccodes", "status", "more than 1,000 requests in 10 seconds must be refused with 429"}},
		runCase(t, target, "8/rate_is_limited").faults)
}
