package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageStandsForTheCardholdersPhone(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	certificate := p.get("/pin-certificate.pem")
	require.Equal(t, "application/x-pem-file", certificate.header.Get("Content-Type"))
	require.Contains(t, certificate.body, "BEGIN CERTIFICATE")
	require.NotContains(t, certificate.body, "PRIVATE")
	require.Contains(t, p.get("/accounts/"+ada).body, "None is pending")

	p.call("POST", "pin/initiate", `{"eaid":"`+ada+`","device_id":"phone-1","ip_address":"192.0.2.1","communication_method":"sms"}`)
	account := p.send("GET", p.page+"accounts/"+ada, "", http.Header{"Accept": {"application/json"}})
	otp := regexp.MustCompile(`"otp":"([0-9]{6})"`).FindStringSubmatch(account.body)
	require.Len(t, otp, 2, account.body)
	page := p.get("/accounts/" + ada).body
	require.Contains(t, page, "<code>"+otp[1]+"</code>")
	require.Regexp(t, `Fingerprint <code>[0-9a-f]{64}</code>`, page)
	for _, path := range []string{"/", "/accounts", "/requests", "/requests/1", "/requests/2", "/accounts/" + grace} {
		require.NotContains(t, p.get(path).body, otp[1], path)
	}
}

func TestPINChangeOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"openssl", "curl", "od"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	text, err := os.ReadFile("../../docs/emulator.md")
	require.NoError(t, err)
	script := regexp.MustCompile("(?s)```sh\n(PAGE=.*?openssl.*?)```").FindSubmatch(text)
	require.Len(t, script, 2)
	p := launch(t, "-log", "off")
	p.call("GET", "accounts/"+ada, "")
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", string(script[1]))
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "BASE="+p.page+"3.0/", "TOKEN="+p.token)
	got, err := command.CombinedOutput()
	require.NoError(t, err, string(got))
	require.Contains(t, string(got), `"status":"validated"`)
	require.Contains(t, string(got), `"status":"executed"`)
	account := p.send("GET", p.page+"accounts/"+ada, "", http.Header{"Accept": {"application/json"}}).body
	require.Contains(t, account, `"pin_set":true`)
	require.True(t, strings.Contains(account, `"pin_changes":[]`), "what is done is not pending")
}
