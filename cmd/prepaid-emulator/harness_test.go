package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain is also the program that tests start.
func TestMain(m *testing.M) {
	if os.Getenv("EMULATOR_TEST_MAIN") != "" {
		main()
	}
	// A connection whose request was not read to the end is closed half a second later.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// needTool skips the test without an outside program, or fails it when PREPAID_REQUIRE_TOOLS is 1.
func needTool(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	if err == nil {
		return
	}
	if os.Getenv("PREPAID_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is not installed, and PREPAID_REQUIRE_TOOLS=1 asks for it", name)
	}
	t.Skipf("NOT CHECKED: %s is not installed; set PREPAID_REQUIRE_TOOLS=1 to fail instead", name)
}

func noEnvironment(string) (string, bool) { return "", false }

// output can be read while it is written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is a program inside the test.
type program struct {
	t             *testing.T
	out, problems *output
	page          string // "http://127.0.0.1:40123/"
	stop          func() int
	http          *http.Client
	token         string
}

func newHTTPClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// launch runs the program on a free port and waits for its greeting.
func launch(t *testing.T, arguments ...string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{t: t, out: new(output), problems: new(output), http: newHTTPClient()}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, arguments...), noEnvironment, p.out, p.problems)
	}()
	p.stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { p.stop() })
	address := regexp.MustCompile(`Page +(http://\S+)`)
	require.Eventually(t, func() bool {
		greeting := p.out.String()
		if found := address.FindStringSubmatch(greeting); found != nil {
			p.page = found[1]
		}
		return strings.Contains(greeting, "Ctrl+C") || len(ended) > 0
	}, 10*time.Second, 5*time.Millisecond)
	require.NotEmpty(t, p.page, p.problems.String())
	return p
}

// reply is the service's or page's response.
type reply struct {
	status int
	header http.Header
	body   string
}

func (p *program) send(method, url, body string, header http.Header) reply {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	require.NoError(p.t, err)
	request.Header = header.Clone()
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := p.http.Do(request)
	require.NoError(p.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return reply{response.StatusCode, response.Header, string(text)}
}

func (p *program) get(path string) reply {
	p.t.Helper()
	return p.send(http.MethodGet, p.page+strings.TrimPrefix(path, "/"), "", http.Header{})
}

// press sends a form as a browser does, and follows the redirect.
func (p *program) press(path, form string) reply {
	p.t.Helper()
	got := p.send(http.MethodPost, p.page+strings.TrimPrefix(path, "/"), form, http.Header{
		"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {strings.TrimSuffix(p.page, "/")},
	})
	if got.status == http.StatusSeeOther {
		return p.get(got.header.Get("Location"))
	}
	_, message, refused := strings.Cut(got.body, `role="alert">`)
	if message, _, _ = strings.Cut(message, "<"); refused { // a plain sentence, without names of Go
		require.NotRegexp(p.t, `prepaidtest|[a-z][A-Z]|\b[A-Z][a-z]+[A-Z]`, message)
		require.Regexp(p.t, `^[A-Z].*\.$`, message)
	}
	return got
}

// call sends a request to the service, with a token.
func (p *program) call(method, path, body string) reply {
	p.t.Helper()
	if p.token == "" {
		p.token = p.newToken("emulator-client", "emulator-secret")
	}
	header := http.Header{"Authorization": {"Bearer " + p.token}}
	if body != "" {
		header.Set("Content-Type", "application/vnd.vendor+json")
	}
	return p.send(method, p.page+"3.0/"+path, body, header)
}

func (p *program) newToken(id, secret string) string {
	p.t.Helper()
	got := p.send(http.MethodPost, p.page+"3.0/token", "grant_type=client_credentials", http.Header{
		"Content-Type":  {"application/x-www-form-urlencoded"},
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))},
	})
	require.Equal(p.t, http.StatusOK, got.status, got.body)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(p.t, json.Unmarshal([]byte(got.body), &token))
	return token.AccessToken
}
