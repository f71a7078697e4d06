package emulator

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sender sends requests like any program, and counts them.
type sender struct {
	*Process
	number int // of the last request
}

// send returns the body of the response; empty when the connection was cut.
func (s *sender) send(method, path, body string) string {
	s.T.Helper()
	if s.Token == "" {
		s.number++ // a request for a token
	}
	s.number++
	reply, _ := s.TryCall(method, path, body)
	return reply.Body
}

// A test of payments with faults and of other requests compiles, and reproduces the log. Its package exists only for the compiler.
func TestRequestsBecomeATestThatPasses(t *testing.T) {
	t.Parallel()
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"accounts":[{"account_id":"EA-ADA","balance":500.00},{"account_id":"EA-BOB"}]}`), 0o600))
	c := &sender{Process: Start(t, "-log", "off", "-no-rate-limit", "-seed", seed)}
	transfer := func(amount, id, fault string) {
		if fault != "" {
			require.Equal(t, http.StatusOK, c.Control("faults", url.Values{"operation": {"POST /accounts/{id}/transfer"}, "fault": {fault}}.Encode()).Status)
		}
		c.send("POST", "accounts/EA-ADA/transfer", `{"request_id":"`+id+`","amount":`+amount+`,"source_reference":"it's \"lunch\"","destination_reference":"d","destination_account_id":"EA-BOB","transaction_type":1}`)
	}
	transfer("2.50", "r-1", "")
	transfer("2.50", "r-1", "")
	transfer("99999", "r-2", "")
	for _, fault := range []string{"commit-then-drop", "proxy-page 502", "too-many-requests", "drop-before-commit", "respond 500"} {
		transfer("1", "f-"+strings.Fields(fault)[0], fault)
	}
	c.send("GET", "accounts?client_id=acme&last_name=Hopper", "")
	c.send("PUT", "accounts/EA-ADA/status", `{"status":"inactive"}`)
	c.send("GET", "accounts/EA404", "")
	c.send("POST", "hooks", `{"uri":7}`)
	query := url.Values{}
	for n := 1; n <= c.number; n++ {
		query.Add("n", strconv.Itoa(n))
	}
	got := c.Get("requests/test?" + query.Encode())
	require.Equal(t, http.StatusOK, got.Status, got.Body)
	text := html.UnescapeString(regexp.MustCompile(`(?s)<pre id="go-text"[^>]*>(.*?)</pre>`).FindStringSubmatch(got.Body)[1])
	require.NotRegexp(t, `Hopper|\[REDACTED\]`, text)
	require.Equal(t, http.StatusUnprocessableEntity, c.Get("requests/test?n="+strconv.Itoa(c.number+1)).Status, "there is no other request")

	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "requests_test.go")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "docs", "requests_test.go"): file}})
	require.NoError(t, err)
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=all", "-count=1", "-overlay="+overlay, "./docs")
	command.Dir = root
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, text)
}
