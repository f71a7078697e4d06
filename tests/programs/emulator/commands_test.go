package emulator

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/built"
)

func TestPrintedCommandsWork(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "curl")
	p := Start(t, "-client-secret", "it's a $ecret")
	lines := regexp.MustCompile(`(?m)^  ((?:TOKEN=|curl ).*)$`).FindAllStringSubmatch(p.Greeting, -1)
	require.Len(t, lines, 2)
	got, err := exec.CommandContext(t.Context(), "sh", "-eu", "-c", lines[0][1]+"\n"+lines[1][1]).CombinedOutput()
	require.NoError(t, err, string(got))
	require.Contains(t, string(got), `"account_id":"`+ada+`"`)
	p.Stop(os.Interrupt)
	require.Contains(t, p.ErrOut.String(), "template=/accounts/{id} status=200")
}

func TestControlOfTheDocumentation(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "curl")
	text, err := os.ReadFile("../../../docs/emulator-control.md")
	require.NoError(t, err)
	section := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(text)
	require.Len(t, section, 2)
	for _, form := range append(prepaidtest.FaultForms(), prepaidtest.DeliveryFaultForms()...) {
		require.Contains(t, string(text), "| `"+strings.Replace(form, ": ", "` | ", 1)+" |\n")
	}
	p := Start(t, "-log", "off")
	commands := strings.ReplaceAll(string(section[1]), "http://127.0.0.1:8480/", p.Page)
	got, err := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands).CombinedOutput()
	require.NoError(t, err, string(got))
	require.NotContains(t, string(got), `"error"`)
	require.Equal(t, strings.Count(commands, "\nemulator ")+1, strings.Count(string(got), "\n"), string(got))
}

func TestPINChangeOfTheDocumentation(t *testing.T) {
	t.Parallel()
	script := pinScript(t)
	p := Start(t, "-log", "off")
	said := shell(p, script)
	require.Contains(t, said, `"status":"validated"`)
	require.Contains(t, said, `"status":"executed"`)
	account := p.JSON("accounts/" + ada)
	require.Contains(t, account, `"pin_set":true`)
	require.Contains(t, account, `"pin_changes":[]`, "what is done is not pending")
}

func TestPINOptionsHaveAnEffect(t *testing.T) {
	t.Parallel()
	script := pinScript(t)
	p := Start(t, "-log", "off", "-pin-mgf1", "SHA1")
	require.Contains(t, shell(p, script), "encrypted_key cannot be decrypted")
	script = strings.ReplaceAll(script, "rsa_oaep_md:sha256", "rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1")
	require.Contains(t, shell(p, script), `"status":"executed"`)
	require.Contains(t, shell(p, strings.ReplaceAll(script, "$OTP 4821", "wrong 4821")), "invalid_otp")
}

// pinScript returns the script of docs/emulator-pin.md.
func pinScript(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"openssl", "curl", "od"} {
		built.NeedTool(t, tool)
	}
	text, err := os.ReadFile("../../../docs/emulator-pin.md")
	require.NoError(t, err)
	script := regexp.MustCompile("(?s)```sh\n(PAGE=.*?openssl.*?)```").FindSubmatch(text)
	require.Len(t, script, 2)
	return string(script[1])
}

// shell runs commands with BASE and TOKEN set.
func shell(p *Process, script string) string {
	p.T.Helper()
	p.Call("GET", "accounts/"+ada, "") // sets p.Token
	command := exec.CommandContext(p.T.Context(), "sh", "-eu", "-c", script)
	command.Dir = p.T.TempDir()
	command.Env = append(os.Environ(), "BASE="+p.Page+"3.0/", "TOKEN="+p.Token)
	said, err := command.CombinedOutput()
	require.NoError(p.T, err, string(said))
	return string(said)
}
