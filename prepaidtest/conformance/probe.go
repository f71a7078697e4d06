package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody     = 32 << 20
	noAccount   = "conformance-unknown"                  // an account that does not exist
	unknownUUID = "00000000-0000-4000-8000-00000000c0de" // a hook, report or operation that does not exist
)

// probe is one running case.
type probe struct {
	*session
	context   func() context.Context
	done      <-chan struct{}
	section   string
	operation string
	faults    []fault
	skipped   string
}

// fail records a violation in the section of the case.
func (p *probe) fail(field, rule string) { p.failIn(p.section, field, rule) }

func (p *probe) failIn(section, field, rule string) {
	p.faults = append(p.faults, fault{section, p.operation, field, rule})
}

// response is an HTTP response. After one violation, most checks of the response report no other.
type response struct {
	*probe
	bad    bool
	code   int
	header http.Header
	body   []byte
}

// send makes one request.
func (p *probe) send(method, path, body string, header http.Header) *response {
	request, err := http.NewRequestWithContext(p.context(), method, p.target.BaseURL+path, strings.NewReader(body))
	if err != nil {
		p.fail("request", "cannot be made of this target")
		return &response{probe: p, bad: true}
	}
	request.Header = header
	request.Close = strings.Contains(path, "/reports/") // a 204 with a body makes the connection unusable
	raw, err := p.client.Do(request)
	if err != nil {
		p.fail("response", "none arrived")
		return &response{probe: p, bad: true}
	}
	defer func() { _ = raw.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(raw.Body, maxBody))
	if err != nil {
		p.fail("response", "was cut short")
	}
	return &response{probe: p, bad: err != nil, code: raw.StatusCode, header: raw.Header, body: text}
}

// patiently sends a request, and repeats it after a 429, up to three times.
func (p *probe) patiently(method, path, body string, header http.Header) *response {
	for attempt := 0; ; attempt++ {
		a := p.send(method, path, body, header)
		if a.code != http.StatusTooManyRequests || attempt == 3 {
			return a
		}
		p.sleep(a.retryAfter())
	}
}

// retryAfter returns the Retry-After of a 429, at most a minute. Without that header it returns ten seconds, the rate limit's window.
func (a *response) retryAfter() time.Duration {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 10 * time.Second
	}
	return min(time.Duration(seconds)*time.Second, time.Minute)
}

func (p *probe) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
}

func (p *probe) mediaType() string { return "application/vnd." + p.target.Vendor + "+json" }

func (p *probe) bearer(token string, body bool) http.Header {
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if body {
		header.Set("Content-Type", p.mediaType())
	}
	return header
}

// do makes a request with the run's token. A body that is not nil is sent as JSON.
func (p *probe) do(method, path string, body any) *response {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			p.fail("request", "cannot be written")
			return &response{probe: p, bad: true}
		}
	}
	if p.token == "" && !p.authorise() {
		return &response{probe: p, bad: true}
	}
	return p.patiently(method, path, string(text), p.bearer(p.token, body != nil))
}

func (p *probe) get(path string) *response            { return p.do(http.MethodGet, path, nil) }
func (p *probe) post(path string, body any) *response { return p.do(http.MethodPost, path, body) }

// authorise gets the run's token.
func (p *probe) authorise() bool {
	a := p.askToken(p.basic(p.target.ClientID, p.target.ClientSecret), "grant_type=client_credentials")
	var got struct {
		Token string `json:"access_token"`
	}
	if a.bad || a.code != http.StatusOK || json.Unmarshal(a.body, &got) != nil || got.Token == "" {
		p.failIn("4.1", "access_token", "no token was issued for the run")
		return false
	}
	p.token = got.Token
	return true
}

func (p *probe) basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func (p *probe) askToken(authorization, form string) *response {
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if authorization != "" {
		header.Set("Authorization", authorization)
	}
	return p.patiently(http.MethodPost, "token", form, header)
}

// status checks the status. After a 401, the run gets another token.
func (a *response) status(allowed ...int) *response {
	if a.bad {
		return a
	}
	if slices.Contains(allowed, a.code) {
		return a
	}
	if a.code == http.StatusUnauthorized {
		a.session.token = ""
	}
	words := make([]string, len(allowed))
	for i, code := range allowed {
		words[i] = strconv.Itoa(code)
	}
	a.fail("status", "must be "+strings.Join(words, " or ")+", is "+strconv.Itoa(a.code))
	a.bad = true
	return a
}

// empty checks that there is no body.
func (a *response) empty() *response {
	if !a.bad && len(a.body) > 0 {
		a.fail("body", "must be empty")
		a.bad = true
	}
	return a
}

// read checks media type and body, and returns the value of the body, or nil if the body is not JSON.
func (a *response) read(r rule) any {
	if a.bad {
		return nil
	}
	if a.header.Get("Content-Type") != a.mediaType() {
		a.failIn("1", "Content-Type", "must be application/vnd.<vendor>+json")
		a.bad = true
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		a.fail("body", "must be JSON")
		a.bad = true
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		a.fail("body", "must be one JSON value")
	}
	before := len(a.faults)
	r(a.section, "body", value, a.failIn)
	a.bad = a.bad || len(a.faults) > before
	return value
}

// object reads an object. It returns nil after an earlier violation, or if the body is not an object.
func (a *response) object(r rule) map[string]any {
	value, _ := a.read(r).(map[string]any)
	return value
}

// objects reads a list of objects.
func (a *response) objects(r rule) []map[string]any {
	list, _ := a.read(listOf(r)).([]any)
	found := make([]map[string]any, 0, len(list))
	for _, element := range list {
		if object, ok := element.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

// octets checks that the body is a string of type application/octet-stream, and returns the string.
func (a *response) octets() string {
	if a.bad {
		return ""
	}
	if media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";"); media != "application/octet-stream" {
		a.fail("Content-Type", "must be application/octet-stream")
	}
	text := strings.Trim(strings.TrimSpace(string(a.body)), `"`)
	if text == "" {
		a.fail("body", "must be a string that is not empty")
	}
	return text
}

// refused checks the status, the shape of the error and, if codes are given, its code.
func (a *response) refused(status int, codes ...string) { a.refusedAs([]int{status}, codes...) }

func (a *response) refusedAs(statuses []int, codes ...string) {
	body := a.status(statuses...).object(errorShape())
	if code, ok := body["error"].(string); ok && len(codes) > 0 && !slices.Contains(codes, code) {
		a.fail("error", "must be "+strings.Join(codes, " or "))
	}
}
