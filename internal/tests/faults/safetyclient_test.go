package faults

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file stands for a client in another language: it uses net/http and docs/safety.json, and nothing of package prepaid.

// safetyFile is docs/safety.json. docs/operations.md explains it.
type safetyFile struct {
	Operations []safetyOperation         `json:"operations"`
	Settings   map[string]any            `json:"settings"`
	Forms      map[string]safetyForm     `json:"forms"`
	Attempts   []safetyRule              `json:"attempts"`
	Next       map[string]map[string]any `json:"next"`
	Ask        safetyAsk                 `json:"ask"`
	Resolves   []condition               `json:"resolves"`

	vendor string
}

type safetyOperation struct {
	Operation string            `json:"operation"`
	Method    string            `json:"method"`
	Path      string            `json:"path"`
	Safety    string            `json:"safety"`
	When      []safetyWhen      `json:"when,omitzero"`
	Key       string            `json:"key,omitzero"`
	Success   []string          `json:"success"`
	Body      string            `json:"body"`
	Result    *memberIs         `json:"result,omitzero"`
	Refusal   *memberIs         `json:"refusal,omitzero"`
	Also      map[string]string `json:"also,omitempty"`
}

type safetyWhen struct {
	Setting string `json:"setting,omitzero"`
	Member  string `json:"member"`
	Values  []any  `json:"values"`
	Safety  string `json:"safety"`
}

// memberIs holds if a member of a body has one of the values, or is a number above another one.
type memberIs struct {
	Member string   `json:"member"`
	Values []any    `json:"values,omitzero"`
	Above  *float64 `json:"above,omitzero"`
}

type safetyForm struct {
	MediaTypes []string `json:"media_types"`
	Bodies     []string `json:"bodies,omitzero"`
}

type safetyRule struct {
	If      condition             `json:"if"`
	Classes map[string]safetyThen `json:"classes"`
}

type safetyThen struct {
	Next    string `json:"next"`
	Outcome string `json:"outcome"`
}

type safetyAsk struct {
	Operation string            `json:"operation"`
	Header    map[string]string `json:"header"`
	Pause     any               `json:"pause"`
	GivesUp   any               `json:"gives_up"`
	Counts    condition         `json:"counts"`
}

// condition is fulfilled if all its members hold.
type condition struct {
	Sent       *bool    `json:"sent,omitzero"`
	Complete   *bool    `json:"complete,omitzero"`
	Status     []string `json:"status,omitzero"`
	Declared   *bool    `json:"declared,omitzero"`
	Form       string   `json:"form,omitzero"`
	Codes      []string `json:"codes,omitzero"`
	MediaTypes []string `json:"media_types,omitzero"`
	Without    []string `json:"without,omitzero"`
}

// result is the result of an attempt.
type result struct {
	sent, complete bool
	status         int
	header         http.Header
	mediaType      string
	body           []byte
	began          time.Time
}

type scope map[string]any

// value computes an expression: a number, a name, or an operator with expressions.
func (s scope) value(e any) float64 {
	switch e := e.(type) {
	case float64:
		return e
	case string:
		return s.value(s[e])
	case []any:
		values := make([]float64, len(e)-1)
		for i := range values {
			values[i] = s.value(e[i+1])
		}
		a, b := values[0], values[len(values)-1]
		switch e[0] {
		case "min":
			return slices.Min(values)
		case "max":
			return slices.Max(values)
		case "+":
			return a + b
		case "-":
			return a - b
		case "*":
			return a * b
		case "/":
			return a / b
		case "^":
			return math.Pow(a, b)
		case "or":
			return cmp.Or(a, b)
		case "random":
			return a + rand.Float64()*(b-a)
		case "<", "<=":
			if a < b || a == b && e[0] == "<=" {
				return 1
			}
			return 0
		}
	}
	panic(fmt.Sprintf("%v is no expression", e))
}

func (f *safetyFile) scope(more scope) scope {
	s := scope{}
	for _, values := range []map[string]any{f.Settings, more} {
		maps.Copy(s, values)
	}
	return s
}

func (f *safetyFile) operation(name string) *safetyOperation {
	i := slices.IndexFunc(f.Operations, func(o safetyOperation) bool { return o.Operation == name })
	return &f.Operations[i]
}

func (o *safetyOperation) class(body []byte, settings scope) string {
	for _, when := range o.When {
		if (when.Setting == "" || settings.value(when.Setting) != 0) && (&memberIs{Member: when.Member, Values: when.Values}).holds(body) {
			return when.Safety
		}
	}
	if key, _ := memberOf(body, o.Key); o.Key != "" && (key == nil || key == "") {
		return "never"
	}
	return o.Safety
}

func memberOf(body []byte, name string) (value any, has bool) {
	var members map[string]any
	_ = json.Unmarshal(body, &members)
	value, has = members[name]
	return value, has
}

func (m *memberIs) holds(body []byte) bool {
	if m == nil {
		return false
	}
	value, has := memberOf(body, m.Member)
	number, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	return has && (slices.Contains(m.Values, value) || m.Above != nil && err == nil && number > *m.Above)
}

// fileClient is a client of one service.
type fileClient struct {
	safetyFile

	base      string
	transport http.RoundTripper
	token     func(rejected string) string // another one than rejected, if it can
	unknown   map[string]time.Time         // when keyed requests of unknown outcome were last sent, by body
	drawn     map[string]bool              // the conclusions that were drawn: number of the rule and class
}

func (f *safetyFile) is(mediaType string, list []string) bool {
	return slices.Contains(list, strings.ReplaceAll(mediaType, "vnd."+f.vendor+"+", "vnd.{vendor}+"))
}

// isCode reports whether the text of an error with a media type that is not the service's own is a code.
func isCode(text string, status int) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && !strings.EqualFold(strings.ReplaceAll(text, "_", " "), http.StatusText(status))
}

// form is the form of a complete response: error, refusal, result, or none of them.
func (f *safetyFile) form(o *safetyOperation, r *result) string {
	var failure struct {
		Error string `json:"error"`
	}
	body, own := strings.TrimSpace(string(r.body)), f.is(r.mediaType, f.Forms[o.Body].MediaTypes)
	object := json.Valid(r.body) && strings.ContainsAny(body[:1], "{[")
	switch _ = json.Unmarshal(r.body, &failure); {
	case failure.Error != "" && failure.Error != http.StatusText(r.status) && f.is(r.mediaType, f.Forms["error"].MediaTypes) &&
		(f.is(r.mediaType, f.Forms["error"].MediaTypes[:1]) || isCode(failure.Error, r.status)):
		return "error"
	case r.status == http.StatusNoContent:
		return "result"
	case o.Body == "none" && own && slices.Contains(f.Forms[o.Body].Bodies, body), (o.Body == "data" || o.Body == "any") && own,
		o.Body == "text" && own && body != "" && !strings.ContainsAny(body, "{<") && len(body) < 1000:
		return "result"
	case own && object && o.Refusal.holds(r.body):
		return "refusal"
	case own && object && (o.Body == "json" || o.Body == "refusal") && (o.Result == nil || o.Result.holds(r.body)):
		return "result"
	}
	return ""
}

func (f *safetyFile) holds(c *condition, o *safetyOperation, r *result) bool {
	status := func(want string) bool {
		from, to, ranged := strings.Cut(want, "-")
		got := strconv.Itoa(r.status)
		return want == got || want == "none" && r.status == 0 || want == "success" && slices.Contains(o.Success, got) ||
			ranged && from <= got && got <= to
	}
	var failure struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(r.body, &failure)
	return (c.Sent == nil || *c.Sent == r.sent) && (c.Complete == nil || *c.Complete == r.complete) &&
		(c.Status == nil || slices.ContainsFunc(c.Status, status)) &&
		(c.Declared == nil || *c.Declared == f.is(r.mediaType, f.Forms[o.Body].MediaTypes)) &&
		(c.Form == "" || c.Form == f.form(o, r)) && (c.Codes == nil || slices.Contains(c.Codes, failure.Error)) &&
		(c.MediaTypes == nil || f.is(r.mediaType, c.MediaTypes)) &&
		!slices.ContainsFunc(c.Without, func(name string) bool { return r.header.Values(name) != nil })
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// then is the conclusion from an attempt: that of the first rule which it fulfils.
func (f *fileClient) then(o *safetyOperation, class string, r *result) safetyThen {
	rule := slices.IndexFunc(f.Attempts, func(rule safetyRule) bool { return f.holds(&rule.If, o, r) })
	if narrow := class + ", " + o.Body; f.Attempts[rule].Classes[narrow] != (safetyThen{}) {
		class = narrow
	}
	if f.drawn != nil {
		f.drawn[fmt.Sprint(rule, " ", class)] = true
	}
	then := f.Attempts[rule].Classes[class]
	switch o.Also[strconv.Itoa(r.status)] {
	case "final":
		then.Next = "end"
	case "body":
		then = safetyThen{"end", "not_processed"}
	}
	return then
}

// send makes one attempt, on its own connection.
func (f *fileClient) send(ctx context.Context, o *safetyOperation, target, token string, body []byte) *result {
	r := &result{began: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, seconds(f.scope(nil).value("attempt_timeout")))
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { r.sent = true }})
	request, _ := http.NewRequestWithContext(ctx, o.Method, f.base+target, bytes.NewReader(body))
	request.Close = true
	request.Header = http.Header{"Authorization": {"Bearer " + token}}
	if o.Operation == f.Ask.Operation {
		for name, value := range f.Ask.Header {
			request.Header.Set(name, value)
		}
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/vnd."+f.vendor+"+json")
	}
	r.read(f.transport.RoundTrip(request))
	return r
}

func (r *result) read(response *http.Response, err error) {
	if err != nil {
		return
	}
	r.sent, r.status, r.header = true, response.StatusCode, response.Header
	r.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	r.body, err = io.ReadAll(response.Body)
	_, r.complete = response.Body.Close(), err == nil
}

// call makes a call: its outcome, and how many requests may have arrived.
func (f *fileClient) call(ctx context.Context, name, target string, body []byte) (outcome string, sent int) {
	o := f.operation(name)
	class, key := o.class(body, f.Settings), string(body)
	s := f.scope(scope{"tried": 0.0, "renewed": 0.0, "throttled": 0.0})
	var throttled time.Time
	last, unknown := f.unknown[key]
	if unknown && (time.Since(last).Seconds() > s.value("request_id_age") || !f.awaitRepeat(ctx, target, last)) {
		return "unknown", 0
	}
	waited, token := unknown, f.token("")
	for {
		r := f.send(ctx, o, target, token, body)
		then := f.then(o, class, r)
		if r.sent {
			sent++
		}
		resolves := then.Outcome == "applied" || waited && slices.ContainsFunc(f.Resolves, func(c condition) bool { return f.holds(&c, o, r) })
		if outcome = then.Outcome; unknown && !resolves {
			outcome = "unknown"
		}
		unknown = outcome == "unknown"
		next := f.Next[then.Next]
		if delete(f.unknown, key); unknown && class == "keyed" {
			f.unknown[key] = cmp.Or(last, r.began)
			if then.Outcome == outcome {
				last = r.began
				f.unknown[key] = last
			}
		}
		s["retry_after"] = 0.0
		if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err == nil {
			s["retry_after"] = float64(max(0, seconds))
		}
		for _, counter := range []string{"tried", "renewed"} {
			more, _ := next[counter].(float64)
			s[counter] = s.value(counter) + more
		}
		wait := 0.0
		if next["wait"] != nil {
			s["pause"] = next["pause"]
			wait = s.value(next["wait"])
		}
		if then.Next == "throttle" {
			if throttled.IsZero() {
				throttled = time.Now()
			}
			s["throttled"] = time.Since(throttled).Seconds() + wait
		}
		if conditions, _ := next["if"].([]any); then.Next == "end" || slices.ContainsFunc(conditions, func(e any) bool { return s.value(e) == 0 }) {
			return outcome, sent
		}
		time.Sleep(seconds(wait))
		if next["repeat_from"] != nil {
			if !f.awaitRepeat(ctx, target, last) {
				return outcome, sent
			}
			waited = true
		}
		if then.Next == "token" {
			rejected := token
			if token = f.token(rejected); token == rejected {
				return outcome, sent
			}
		}
	}
}

// awaitRepeat waits until a keyed request may be repeated. It gives up if the service is silent.
func (f *fileClient) awaitRepeat(ctx context.Context, target string, last time.Time) bool {
	repeat := f.Next["repeat"]
	if repeat["repeat_from"] == nil {
		return true
	}
	s := f.scope(repeat)
	sign := func(from float64) (age float64, ok bool) {
		ask := f.operation(f.Ask.Operation)
		time.Sleep(time.Until(last.Add(seconds(from))))
		for began := time.Now(); time.Since(began).Seconds() < s.value(f.Ask.GivesUp); time.Sleep(seconds(s.value(f.Ask.Pause))) {
			if r := f.send(ctx, ask, target[:strings.LastIndex(target, "/")]+"/status", f.token(""), nil); f.holds(&f.Ask.Counts, ask, r) {
				return time.Since(last).Seconds(), true
			}
		}
		return 0, false
	}
	first, ok := sign(s.value("first_sign_from"))
	for ok {
		s["first_sign"] = first
		asked := max(s.value("second_sign_from"), time.Since(last).Seconds())
		var second float64
		if second, ok = sign(s.value("second_sign_from")); ok && second-asked <= s.value("second_sign_within") {
			s["second_sign"] = second
			time.Sleep(time.Until(last.Add(seconds(s.value("repeat_from")))))
			return true
		}
		first = second
	}
	return false
}
