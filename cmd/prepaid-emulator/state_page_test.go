package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/caller"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Over HTTP, a test in any language can simulate card use and list running requests.
func TestStateInJSON(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z", "-rate-limit", "1000", "-log", "off")
	read := func(got caller.Reply, into any) {
		require.Equal(t, []any{http.StatusOK, "application/json"}, []any{got.Status, got.Header.Get("Content-Type")})
		require.NoError(t, json.Unmarshal([]byte(got.Body), into))
	}
	require.Contains(t, p.Call("POST", "simulation/transact", `{"transaction_type":"Purchase","account_id":"`+grace+`","amount":12.50,"mcc":"5411",
		"merchant_id":"SHOP","terminal_id":"T","acquirer_id":"4"}`).Body, "Approved")
	require.Regexp(t, `"authorizations":\[\{"authorization_id":"\d+","transaction_type":"Purchase","amount":12\.50,"state":"open"\}\]`, p.JSON("accounts/"+grace))
	require.Regexp(t, `data-name="Remaining">12\.50<.*>open<.*>SHOP<`, p.Get("/accounts/"+grace).Body)

	var transfers struct {
		Armed []struct {
			Operation, Fault string
			Left             int
		}
		Running []struct {
			RequestID string `json:"request_id"`
			LeftMS    int    `json:"left_ms"`
		}
		PaidTwice []string `json:"paid_twice"`
	}
	p.Control("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after 30s")
	inJSON := http.Header{"Accept": {"application/json"}}
	read(p.Send("GET", p.Page+"transfers", "", inJSON), &transfers)
	require.Empty(t, transfers.Running)
	require.Len(t, transfers.Armed, 1)
	require.Equal(t, []any{"POST /accounts/{id}/transfer", "proxy-page 502 commit-after 30s", 1},
		[]any{transfers.Armed[0].Operation, transfers.Armed[0].Fault, transfers.Armed[0].Left})
	pay := `{"amount":1,"source_reference":"s","destination_reference":"d","destination_account_id":"` + grace + `","transaction_type":1,"request_id":"r-1"}`
	require.Equal(t, http.StatusBadGateway, p.Call("POST", "accounts/"+ada+"/transfer", pay).Status)
	read(p.Send("GET", p.Page+"transfers", "", inJSON), &transfers)
	require.Empty(t, transfers.Armed)
	require.Equal(t, "r-1", transfers.Running[0].RequestID)
	require.Greater(t, transfers.Running[0].LeftMS, 1000)
	require.Contains(t, p.Get("/accounts/"+ada).Body, "1 transfer from this account.")
	require.Contains(t, p.Get("/transfers").Body, ">running<")
}

func TestWalletTokensAreShown(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.server.AddWalletToken(ada, prepaidtest.WalletToken{TokenUniqueReference: "token-1", CurrentStatusCode: "suspended"})
	require.Regexp(t, `token-1<.*data-name="Status">.*suspended<`, p.Get("/accounts/"+ada).Body)
}

func TestOneTimePasswordIsShown(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	certificate := p.Get("/pin-certificate.pem")
	require.Equal(t, "application/x-pem-file", certificate.Header.Get("Content-Type"))
	require.Contains(t, certificate.Body, "BEGIN CERTIFICATE")
	require.NotContains(t, certificate.Body, "PRIVATE")
	require.Contains(t, p.Get("/accounts/"+ada).Body, "None is pending")

	p.Call("POST", "pin/initiate", `{"eaid":"`+ada+`","device_id":"phone-1","ip_address":"192.0.2.1","communication_method":"sms"}`)
	account := p.JSON("accounts/" + ada)
	otp := regexp.MustCompile(`"otp":"([0-9]{6})"`).FindStringSubmatch(account)
	require.Len(t, otp, 2, account)
	page := p.Get("/accounts/" + ada).Body
	require.Contains(t, page, `<span class="code">`+otp[1]+"</span>")
	require.Regexp(t, `Fingerprint</dt><dd><span class="code">[0-9a-f]{64}<`, page)
	for _, path := range []string{"/", "/accounts", "/requests", "/requests/1", "/requests/2", "/accounts/" + grace} {
		require.NotContains(t, p.Get(path).Body, otp[1], path)
	}
}
