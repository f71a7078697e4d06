package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
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

// needBrowser skips the test if there is no browser, unless PREPAID_BROWSER=required demands one.
func needBrowser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is not part of a short run")
	}
	driver, err := exec.LookPath("chromedriver")
	if err != nil && os.Getenv("PREPAID_BROWSER") != "required" {
		t.Skip("chromedriver is not installed: the page is not looked at in a browser")
	}
	require.NoError(t, err, "PREPAID_BROWSER=required, and there is no chromedriver")
	return driver
}

// startBrowser starts chromedriver on a free port.
func startBrowser(t *testing.T) *driver {
	t.Helper()
	command := exec.Command(needBrowser(t), "--port=0")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	port := regexp.MustCompile(`on port (\d+)`)
	for lines.Scan() {
		if found := port.FindStringSubmatch(lines.Text()); len(found) == 2 && found[1] != "0" {
			return &driver{t: t, url: "http://127.0.0.1:" + found[1] + "/session", browsers: make(map[browserForm]*browser)}
		}
	}
	require.Fail(t, "chromedriver reported no port")
	return nil
}

// driver is a running chromedriver.
type driver struct {
	t        *testing.T
	url      string
	browsers map[browserForm]*browser
}

// open returns a browser without data of earlier tests. Browsers of one driver and form use the same process in turn.
func (d *driver) open(t *testing.T, form browserForm) *browser {
	t.Helper()
	if d.browsers[form] == nil {
		d.browsers[form] = d.begin(form)
	}
	b := *d.browsers[form]
	b.t = t
	t.Cleanup(func() {
		b.eval(`localStorage.clear(); sessionStorage.clear(); return null`, nil)
		b.call(http.MethodDelete, "/cookie", nil, nil)
		b.visit("about:blank")
		b.console()
	})
	return &b
}

// begin starts a browser with a fresh profile.
func (d *driver) begin(form browserForm) *browser {
	t := d.t
	t.Helper()
	profile, err := os.MkdirTemp("", "prepaid-browser") // removed below, with retries
	require.NoError(t, err)
	options := map[string]any{"args": []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-prefers-reduced-motion",
		"--user-data-dir=" + profile, "--window-size=1280,860", "--blink-settings=preferredColorScheme=1", // light
	}}
	if form.phone {
		options["mobileEmulation"] = map[string]any{"deviceMetrics": map[string]any{"width": 390, "height": 844, "pixelRatio": 2, "touch": true, "mobile": true}}
	}
	if form.noJavaScript {
		options["prefs"] = map[string]any{"profile.managed_default_content_settings.javascript": 2}
	}
	b := &browser{t: t, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}}
	var session struct {
		ID string `json:"sessionId"`
	}
	b.session = d.url
	b.call(http.MethodPost, "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": map[string]any{"browser": "ALL"},
	}}}, &session)
	b.session = d.url + "/" + session.ID
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

// text is an element's text, or empty without the element. One step reads it, because a live page replaces elements.
func (b *browser) text(selector string) string {
	b.t.Helper()
	name, err := json.Marshal(selector)
	require.NoError(b.t, err)
	var text string
	b.eval(`return document.querySelector(`+string(name)+`)?.innerText ?? ""`, &text)
	return text
}

// shows waits until an element has a text: the effect of a click takes a moment.
func (b *browser) shows(selector, text string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return strings.Contains(b.text(selector), text) }, 10*time.Second, 50*time.Millisecond,
		"%s does not show %q", selector, text)
}

// act sends a command to an element. It tries again if a live page has replaced the element meanwhile.
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

func (b *browser) find(selector string) string {
	b.t.Helper()
	var element map[string]string
	b.call(http.MethodPost, "/element", map[string]any{"using": "css selector", "value": selector}, &element)
	for _, id := range element {
		return id
	}
	return ""
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.act(selector, "click", map[string]any{})
}

func (b *browser) enter(selector, text string) {
	b.t.Helper()
	b.act(selector, "clear", map[string]any{})
	b.act(selector, "value", map[string]any{"text": text})
}

// Keys that have no letter.
const (
	keyEnter  = "\ue007"
	keyEscape = "\ue00c"
	keyDown   = "\ue015"
)

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

// prefers sets the colour scheme that the user prefers.
func (b *browser) prefers(scheme string) {
	b.t.Helper()
	media := map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": "Emulation.setEmulatedMedia", "params": media}, nil)
}

// pictureOf is a picture of an element with a margin.
func (b *browser) pictureOf(selector string) []byte {
	b.t.Helper()
	element := b.find(selector)
	b.call(http.MethodPost, "/execute/sync", map[string]any{
		"script": `arguments[0].style.padding = "12px"`,
		"args":   []any{map[string]string{elementKey: element}},
	}, nil)
	return b.picture("/element/" + element + "/screenshot")
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
