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
	script := pinScript(t)
	p := launch(t, "-log", "off")
	said := p.shell(script)
	require.Contains(t, said, `"status":"validated"`)
	require.Contains(t, said, `"status":"executed"`)
	account := p.send("GET", p.page+"accounts/"+ada, "", http.Header{"Accept": {"application/json"}}).body
	require.Contains(t, account, `"pin_set":true`)
	require.Contains(t, account, `"pin_changes":[]`, "what is done is not pending")
}

func TestPINOptionsHaveAnEffect(t *testing.T) {
	t.Parallel()
	script := pinScript(t)
	p := launch(t, "-log", "off", "-pin-mgf1", "SHA1", "-pin-tries", "2")
	require.Contains(t, p.shell(script), "encrypted_key cannot be decrypted")
	script = strings.ReplaceAll(script, "rsa_oaep_md:sha256", "rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1")
	require.Contains(t, p.shell(script), `"status":"executed"`)
	require.Contains(t, p.shell(strings.ReplaceAll(script, "$OTP 4821", "wrong 4821")), "invalid_otp")
	require.Contains(t, p.get("/accounts/"+ada).body, "inactive pin tries exceeded</span>", "validate and execute were two tries")
}

// pinScript returns the script of docs/emulator-pin.md.
func pinScript(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"openssl", "curl", "od"} {
		needTool(t, tool)
	}
	text, err := os.ReadFile("../../docs/emulator-pin.md")
	require.NoError(t, err)
	script := regexp.MustCompile("(?s)```sh\n(PAGE=.*?openssl.*?)```").FindSubmatch(text)
	require.Len(t, script, 2)
	return string(script[1])
}

// shell runs commands with BASE and TOKEN set.
func (p *program) shell(script string) string {
	p.t.Helper()
	p.call("GET", "accounts/"+ada, "") // sets p.token
	command := exec.CommandContext(p.t.Context(), "sh", "-eu", "-c", script)
	command.Dir = p.t.TempDir()
	command.Env = append(os.Environ(), "BASE="+p.page+"3.0/", "TOKEN="+p.token)
	said, err := command.CombinedOutput()
	require.NoError(p.t, err, string(said))
	return string(said)
}
