package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// exported sets the variables of a greeting and returns them.
func exported(t *testing.T, greeting string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, line := range regexp.MustCompile(`(?m)^  export (\w+)='(.*)'$`).FindAllStringSubmatch(greeting, -1) {
		found[line[1]] = line[2]
	}
	for _, name := range []string{
		"PREPAID_BASE_URL", "PREPAID_VENDOR", "PREPAID_ENVIRONMENT", "PREPAID_CLIENT_ID", "PREPAID_CLIENT_SECRET", "PREPAID_SHOW_DESCRIPTIONS",
		"COMPANY_ID", "PROGRAM_CLIENT_ID", "FLOAT_ACCOUNT", "REPORT_TEMPLATE",
	} {
		t.Setenv(name, found[name])
	}
	return found
}

func fromEnv(t *testing.T) *prepaid.Client {
	t.Helper()
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// The greeting exports all variables that a client and the quickstart need. The account has money and belongs to the
// company and its client_id.
func TestGreetingIsAnEnvironment(t *testing.T) {
	p := launch(t, "-log", "off")
	found := exported(t, p.out.String())
	require.Len(t, found, 10)
	client := fromEnv(t)
	account, err := client.Accounts.Get(t.Context(), prepaid.AccountID(found["FLOAT_ACCOUNT"]))
	require.NoError(t, err)
	require.Equal(t, found["COMPANY_ID"], account.CompanyID.String())
	require.Equal(t, found["PROGRAM_CLIENT_ID"], account.ProgramClientID)
	require.Equal(t, prepaid.AccountStatusActive, account.Status)
	require.Equal(t, "1250.40", account.Balance.String(), "the richest of the first company")
	_, err = client.Accounts.Get(t.Context(), "nobody")
	require.ErrorContains(t, err, "(account_not_found): the account does not exist")
}

// A receiver on this machine has its certificate in a file.
func TestHookRootsLetALocalReceiverIn(t *testing.T) {
	arrived := make(chan struct{}, 1)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	t.Cleanup(receiver.Close)
	roots := filepath.Join(t.TempDir(), "receiver.pem")
	require.NoError(t, os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw}), 0o600))
	hook := prepaid.CreateHookParams{
		URI: receiver.URL, Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
		ReliabilityMode: prepaid.ReliabilityModeNone, HMACKeyID: "k", HMACKeySecret: prepaid.NewSecret(strings.Repeat("ab", 32)),
	}
	exported(t, launch(t, "-log", "off", "-hook-roots", roots).out.String())
	_, err := fromEnv(t).Hooks.Create(t.Context(), hook)
	require.NoError(t, err)
	<-arrived

	exported(t, launch(t, "-log", "off").out.String())
	_, err = fromEnv(t).Hooks.Create(t.Context(), hook)
	require.ErrorIs(t, err, prepaid.CodeNoResponse)
	require.Empty(t, arrived)
}

func TestGreetingOfAProductionEnvironment(t *testing.T) {
	p := launch(t, "-log", "off", "-production")
	require.Equal(t, http.StatusNotFound, p.Call("POST", "simulation/transact", "{}").Status)
	found := exported(t, p.out.String())
	require.Equal(t, "production", found["PREPAID_ENVIRONMENT"])
	require.Len(t, found, 5, "no quickstart there, and no description")
	_, err := fromEnv(t).Accounts.Get(t.Context(), "nobody")
	require.True(t, strings.HasSuffix(err.Error(), "(account_not_found)"), err)
}

func TestGreetingWithoutAnAccountThatCanPay(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"companies":[{"id":7,"client_id":"seven"}],"accounts":[
		{"account_id":"a","company_id":7,"balance":5,"status":"inactive"},{"account_id":"b","company_id":7}]}`), 0o600))
	require.Len(t, exported(t, launch(t, "-log", "off", "-seed", seed).out.String()), 6)

	require.NoError(t, os.WriteFile(seed, []byte(`{"companies":[{"id":7,"client_id":"seven"}],"accounts":[{"account_id":"a","company_id":7,"balance":9},
		{"account_id":"b","company_id":7,"balance":10.5},{"account_id":"c","company_id":7,"balance":100,"status":"closed"}]}`), 0o600))
	found := exported(t, launch(t, "-log", "off", "-seed", seed).out.String())
	require.Equal(t, []string{"7", "seven", "b"}, []string{found["COMPANY_ID"], found["PROGRAM_CLIENT_ID"], found["FLOAT_ACCOUNT"]})
}
