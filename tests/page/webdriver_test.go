package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is headless Chromium, controlled by chromedriver in the WebDriver protocol.
type browser struct {
	t       *testing.T
	http    *http.Client
	session string // its address
}

type browserForm struct {
	phone        bool // 390 by 844, touch
	noJavaScript bool
}

// needBrowser skips the test if there is no browser, unless PREPAID_TEST_BROWSER=required demands one.
func needBrowser(t *testing.T) string {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err != nil && os.Getenv("PREPAID_TEST_BROWSER") != "required" {
		t.Skip("chromedriver is not installed: the page is not looked at in a browser")
	}
	require.NoError(t, err, "PREPAID_TEST_BROWSER=required, and there is no chromedriver")
	return driver
}

// startBrowser starts chromedriver on a free port, and a browser with a fresh profile.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	command := exec.Command(needBrowser(t), "--port=0")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	b := &browser{t: t, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	t.Cleanup(b.http.CloseIdleConnections)
	lines := bufio.NewScanner(out)
	port := regexp.MustCompile(`on port (\d+)`)
	for b.session == "" && lines.Scan() {
		if found := port.FindStringSubmatch(lines.Text()); len(found) == 2 && found[1] != "0" {
			b.session = "http://127.0.0.1:" + found[1] + "/session"
		}
	}
	require.NotEmpty(t, b.session, "chromedriver reported no port")
	profile := t.TempDir() // removed below, with retries
	var session struct {
		ID string `json:"sessionId"`
	}
	b.call(http.MethodPost, "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:loggingPrefs": map[string]any{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-prefers-reduced-motion",
			"--user-data-dir=" + profile, "--window-size=1280,860", "--blink-settings=preferredColorScheme=1", // light
		}},
	}}}, &session)
	b.session += "/" + session.ID
	t.Cleanup(func() {
		b.call(http.MethodDelete, "", nil, nil)
		for range 20 { // the browser releases its profile after a moment
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return b
}

// in returns the browser for a part of the test, in a form that the next page has.
func (b *browser) in(t *testing.T, form browserForm) *browser {
	t.Helper()
	part := *b
	part.t = t
	part.visit("about:blank") // the part before has ended, with the program that its page asks for updates
	part.console()
	part.devTools("Emulation.setScriptExecutionDisabled", map[string]any{"value": form.noJavaScript})
	part.devTools("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": form.phone})
	part.isWide(1280)
	if form.phone {
		part.isWide(390)
	}
	return &part
}

// isWide sets the width of the screen, also of the page that is shown.
func (b *browser) isWide(width int) {
	b.t.Helper()
	b.devTools("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 640})
}

func (b *browser) devTools(command string, parameters map[string]any) {
	b.t.Helper()
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": command, "params": parameters}, nil)
}

// call sends one command and reads the response's value into value, unless value is nil.
func (b *browser) call(method, path string, body, value any) {
	b.t.Helper()
	status, received := b.send(method, path, body)
	require.Equal(b.t, http.StatusOK, status, "%s %s: %s", method, path, received)
	if value != nil {
		require.NoError(b.t, json.Unmarshal(received, value))
	}
}

func (b *browser) send(method, path string, body any) (status int, value json.RawMessage) {
	b.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(b.t, err)
	if body == nil {
		text = nil
	}
	request, err := http.NewRequest(method, b.session+path, bytes.NewReader(text))
	require.NoError(b.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := b.http.Do(request)
	require.NoError(b.t, err)
	defer response.Body.Close()
	var received struct {
		Value json.RawMessage `json:"value"`
	}
	require.NoError(b.t, json.NewDecoder(response.Body).Decode(&received))
	return response.StatusCode, received.Value
}

func (b *browser) visit(url string) {
	b.t.Helper()
	b.call(http.MethodPost, "/url", map[string]any{"url": url}, nil)
}

// eval runs the body of a function in the page and stores its result in value.
func (b *browser) eval(script string, value any) {
	b.t.Helper()
	b.call(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": []any{}}, value)
}

// its returns the value of an expression in the page.
func its[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	b.eval("return "+expression, &value)
	return value
}

// text is an element's text, or empty without the element. One step reads it, because a live page replaces elements.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return its[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// shows waits until an element has all texts: the effect of a click takes a moment. It does not wait for the next live update, but
// asks for one, as a page does that becomes visible.
func (b *browser) shows(selector string, texts ...string) {
	b.t.Helper()
	asked := false
	b.becomes(func() bool {
		if b.has(selector, texts...) {
			return true
		}
		if !asked {
			b.eval(`document.dispatchEvent(new Event("visibilitychange"))`, nil)
			asked = true
		}
		return false
	}, "%s does not show %q", selector, texts)
}

// has reports whether an element has all texts.
func (b *browser) has(selector string, texts ...string) bool {
	b.t.Helper()
	shown := b.text(selector)
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) })
}

// becomes waits for a condition, and looks at once.
func (b *browser) becomes(condition func() bool, explained ...any) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(50 * time.Millisecond) {
		require.True(b.t, time.Now().Before(end), explained...)
	}
}

// act sends a command to an element, which is selected first if it has text. It tries again if a live page has replaced the
// element meanwhile.
func (b *browser) act(selector, command string, body any) {
	b.t.Helper()
	for tries := 1; ; tries++ {
		status, received := b.send(http.MethodPost, "/element/"+b.find(selector)+"/"+command, body)
		if status == http.StatusOK {
			return
		}
		require.True(b.t, tries < 10 && bytes.Contains(received, []byte("stale element")), "%s %s: %s", command, selector, received)
	}
}

// find waits for an element, because a click leads to another page a moment later.
func (b *browser) find(selector string) (id string) {
	b.t.Helper()
	b.becomes(func() bool {
		id = its[map[string]string](b, fmt.Sprintf("(e => { e?.focus({preventScroll: true}); e?.select?.(); return e; })(document.querySelector(%q))", selector))[elementKey]
		return id != ""
	}, "no %s", selector)
	return id
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.act(selector, "click", map[string]any{})
}

// enter types over the text of a field.
func (b *browser) enter(selector, text string) {
	b.t.Helper()
	b.act(selector, "value", map[string]any{"text": text})
}

// keyTab moves the focus.
const keyTab = "\ue004"

// keys presses keys in turn, wherever the focus is.
func (b *browser) keys(keys string) {
	b.t.Helper()
	var actions []map[string]any
	for _, key := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": string(key)}, map[string]any{"type": "keyUp", "value": string(key)})
	}
	b.call(http.MethodPost, "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}}}, nil)
}

// console are the errors that the browser logged since the last call.
func (b *browser) console() []string {
	b.t.Helper()
	var entries []struct{ Level, Message string }
	b.call(http.MethodPost, "/se/log", map[string]any{"type": "browser"}, &entries)
	var messages []string
	for _, entry := range entries {
		messages = append(messages, entry.Level+": "+entry.Message)
	}
	return messages
}

// onlyRefused checks that the browser logged refused forms and nothing else.
func (b *browser) onlyRefused() {
	b.t.Helper()
	for _, message := range b.console() {
		require.Contains(b.t, message, "422")
	}
}

func (b *browser) picture(path string) []byte {
	b.t.Helper()
	var text string
	b.call(http.MethodGet, path, nil, &text)
	picture, err := base64.StdEncoding.DecodeString(text)
	require.NoError(b.t, err)
	return picture
}

// elementKey marks the ID of an element in the protocol.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"
