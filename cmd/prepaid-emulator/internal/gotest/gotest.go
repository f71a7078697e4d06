// Package gotest writes a Go test that repeats requests of the emulator's log with the SDK, on a new emulator.
//
// The test seeds the accounts as the requests found them. For each request it arms the request's fault, makes the call, and
// compares status and code with those of the log. Any refusal except that of a missing account is armed as a fault, so that the
// test reproduces the refusal whatever its cause was. Secrets and personal data are fictional, not those of the requests.
package gotest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"go/format"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// maxRequests bounds the requests of a test.
const maxRequests = 50

// story is a test under construction.
type story struct {
	server   *prepaidtest.Server
	requests []prepaidtest.Request // oldest first
	options  []string              // statements before the call of NewServer
	settings []string              // fields of its Options
	seeds    []string
	seeded   map[prepaid.AccountID]bool
	mark     string // delimits expressions; callers cannot guess the mark
}

// writer collects the parts of the test for one request.
type writer struct {
	*story
	request prepaidtest.Request
	earlier []prepaidtest.Request // in the story
	call    call
	before  []string // earlier steps that the request needs
	refused bool     // the SDK refuses the request before sending it
}

// expression marks a Go expression that replaces a value, such as the id of a webhook that the test registered.
func (w *writer) expression(text string) string { return w.mark + text + w.mark }

// add appends to the list the steps that the list does not have yet.
func add(list *[]string, steps ...string) {
	for _, step := range steps {
		if !slices.Contains(*list, step) {
			*list = append(*list, step)
		}
	}
}

// Write returns the test of these requests, oldest first, as a file. It fails, with a plain reason, for a request that the SDK
// cannot have sent. If there are several requests, the test sends each once; a single request is retried as usual.
func Write(server *prepaidtest.Server, requests ...prepaidtest.Request) (string, error) {
	if len(requests) == 0 || len(requests) > maxRequests {
		return "", fmt.Errorf("select 1 to %d requests", maxRequests)
	}
	client, err := prepaid.NewClient(server.Config())
	if err != nil {
		return "", errors.New("this emulator's settings make no client")
	}
	defer func() { _ = client.Close() }()
	s := &story{server: server, requests: requests, seeded: make(map[prepaid.AccountID]bool), mark: rand.Text()}
	var blocks []string
	for i, r := range requests {
		made, err := callOf(client, r)
		if err != nil {
			return "", fmt.Errorf("the SDK cannot send request %d: %w", r.Number, err)
		}
		blocks = append(blocks, (&writer{story: s, request: r, earlier: requests[:i], call: made}).block())
	}
	if slices.Contains(s.settings, reportsReady) && slices.Contains(s.settings, reportsPending) {
		return "", errors.New("a report is ready in one request and pending in another")
	}
	expressions := strings.NewReplacer("\""+s.mark, "", s.mark+"\"", "")
	text, err := format.Source([]byte(expressions.Replace(s.file(blocks))))
	if err != nil {
		return "", fmt.Errorf("the test cannot be written: %w", err)
	}
	return string(text), nil
}

// Moved reports whether a response says that money moved. A fault may have kept the response from the caller.
func Moved(r prepaidtest.Request) bool {
	return !r.Replayed && !strings.HasPrefix(r.FaultForm, "respond-body") && regexp.MustCompile(`"transaction_id": ?"?[1-9]`).MatchString(r.ResponseBody)
}

// paidEarlier reports whether an earlier request of the story made the same payment.
func (w *writer) paidEarlier() bool {
	return slices.ContainsFunc(w.earlier, func(r prepaidtest.Request) bool {
		return r.RequestID == w.request.RequestID && (r.Replayed || Moved(r))
	})
}

// invalid reports whether the SDK refuses the call before sending it.
func (w *writer) invalid() bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nothing is sent
	results := w.call.function.Call(append([]reflect.Value{reflect.ValueOf(ended)}, w.call.arguments...))
	err, _ := results[len(results)-1].Interface().(error)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	return invalid
}

// field is a field of the call's params. The value is invalid if there is no such field.
func (w *writer) field(name string) reflect.Value {
	for _, argument := range w.call.arguments {
		if argument.Kind() == reflect.Struct && argument.FieldByName(name).IsValid() {
			return argument.FieldByName(name)
		}
	}
	return reflect.Value{}
}

func (w *writer) operation() string { return w.request.Method + " " + w.request.Template }

func (w *writer) succeeded() bool {
	return w.request.Status >= http.StatusOK && w.request.Status < http.StatusMultipleChoices
}

// file wraps the blocks of the requests in a test file.
func (s *story) file(blocks []string) string {
	first, last := s.requests[0], s.requests[len(s.requests)-1]
	name, client := fmt.Sprintf("TestRequest%d", first.Number), "client := server.Client()\n"
	if len(blocks) > 1 {
		name, client = fmt.Sprintf("TestRequests%dTo%d", first.Number, last.Number), once
		for i, block := range blocks {
			blocks[i] = "\n{ // Request " + title(s.requests[i]) + ".\nclient := once()\n" + block + "}\n"
		}
	}
	body := "func " + name + "(t *testing.T) {\n" + strings.Join(append(append(slices.Clone(s.options),
		"server := prepaidtest.NewServer(t, prepaidtest.Options{"+strings.Join(s.settings, ", ")+"})"), s.seeds...), "\n") + "\n" +
		client + strings.Join(blocks, "") + "}\n"
	var imports strings.Builder
	for _, name := range []string{
		"crypto/x509", "errors", "net/http", "net/http/httptest", "slices", "testing", "time", "",
		"github.com/cardprograms/prepaid", "github.com/cardprograms/prepaid/prepaidtest",
	} {
		if name == "" {
			imports.WriteString("\n")
		} else if strings.Contains(body, path.Base(name)+".") {
			imports.WriteString(strconv.Quote(name) + "\n")
		}
	}
	about := "Request " + title(first)
	if len(blocks) > 1 {
		about = fmt.Sprintf("Requests %d to %d of the emulator, as far as they were selected", first.Number, last.Number)
	}
	return "package emulator_test\n\nimport (\n" + imports.String() + ")\n\n// " + about + ".\n" + body
}

// once makes the clients of a story, one for each request. Each client sends its request once, and knows no earlier request.
const once = `once := func() *prepaid.Client { // repeats nothing
	config := server.Config()
	config.Retry.MaxAttempts, config.Retry.MaxThrottleWait = 1, time.Nanosecond
	client, err := prepaid.NewClient(config)
	if err != nil { t.Fatal(err) }
	t.Cleanup(func() { _ = client.Close() })
	return client
}
`

// title has a request's number, time, operation and response.
func title(r prepaidtest.Request) string {
	outcome := strconv.Itoa(r.Status)
	if r.Status == 0 {
		outcome = "cut"
	}
	return fmt.Sprintf("%d, %s: %s %s, %s", r.Number, r.Time.UTC().Format("2006-01-02 15:04:05 UTC"), r.Method, r.Template, strings.TrimSpace(outcome+" "+r.ErrorCode))
}

// block is the part of the test for one request.
func (w *writer) block() string {
	if id := w.field("RequestID"); id.IsValid() {
		if _, dated := prepaid.RequestID(id.String()).Date(); dated || id.String() == "" { // an ID with a date would expire
			id.SetString(fmt.Sprintf("request-%d", cmp.Or(w.request.RepeatOf, w.request.Number)))
		}
	}
	if uri := w.field("URI"); uri.IsValid() && uri.String() != "" {
		uri.SetString("https://receiver.example/") // the log redacts possible secrets
	}
	if w.refused = w.invalid() && !w.sealed(); !w.refused {
		w.prepare()
	}
	w.set()
	for _, r := range slices.Backward(w.earlier) {
		if r.AccountID == w.request.AccountID && r.AccountStatus != "" {
			if r.AccountStatus != w.request.AccountStatus {
				w.before = append(w.before, fmt.Sprintf("server.SetStatus(%q, %q)", r.AccountID, w.request.AccountStatus))
			}
			break
		}
	}
	var body strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&body, format+"\n", args...) }
	for _, step := range w.before {
		line("%s", step)
	}
	line("")
	w.arm(line)
	line("begun := len(server.Requests())")
	results := "err"
	if w.call.results > 0 {
		results = "result, err"
	}
	again := ":="
	if results == "err" && regexp.MustCompile(`(?m)^\w+, err :=`).MatchString(body.String()) {
		again = "="
	}
	line("%s %s %s", results, again, w.call.text("client"))
	if w.call.results > 0 {
		line("t.Log(result)")
	}
	w.check(line)
	return body.String()
}

// arm arms the request's fault. If the request was refused and the new emulator would accept it, arm arms a fault that refuses it.
func (w *writer) arm(line func(string, ...any)) {
	r, form := w.request, w.request.FaultForm
	missing := r.Status == http.StatusNotFound && r.ErrorCode == "account_not_found" && r.AccountStatus == ""
	if form == "" && !w.refused && !missing && r.Status != 0 && !w.succeeded() {
		reason := strings.Join(strings.Fields(r.ErrorDescription), " ")
		line("// The service refused it: %s. This fault makes the test's emulator do the same.", cmp.Or(reason, "no reason given"))
		form = prepaidtest.Respond(r.Status, r.ErrorCode).String()
	}
	if form == "" || w.refused {
		return
	}
	line("fault, err := prepaidtest.ParseFault(%q)", form)
	line("if err != nil { t.Fatal(err) }")
	line("server.Inject(%q, fault)", w.operation())
}

// check compares the new requests to the logged ones, and describes how the SDK handled them.
func (w *writer) check(line func(string, ...any)) {
	r := w.request
	if w.refused {
		line("// The SDK refuses this before it is sent; the emulator got it from another client.")
		line("if _, refused := errors.AsType[*prepaid.ValidationError](err); !refused || len(server.Requests()) != begun { t.Fatal(\"it was not refused before it was sent:\", err) }")
		return
	}
	line("t.Log(\"outcome:\", prepaid.OutcomeOf(err), \"error:\", err)")
	line("")
	line("// What the service saw first, and how it responded, as in the emulator.")
	line("requests := server.Requests()[begun:]")
	line("first := slices.IndexFunc(requests, func(r prepaidtest.Request) bool { return r.Method+\" \"+r.Template == %q })", w.operation())
	line("if first < 0 { t.Fatal(\"nothing was sent:\", err) }")
	wanted := fmt.Sprintf("got.Status != %d", r.Status)
	if w.succeeded() && r.FaultForm == "" && r.ErrorCode == "" {
		wanted = "got.Status/100 != 2"
	}
	line("if got := requests[first]; %s || got.ErrorCode != %q { t.Errorf(\"the service responded with %%d %%s\", got.Status, got.ErrorCode) }", wanted, r.ErrorCode)
	if r.Replayed {
		line("if !requests[first].Replayed { t.Error(\"it was carried out again\") }")
	}
	switch {
	case r.FaultForm == "" && w.plainSuccess():
		line("if err != nil { t.Error(err) }")
	case r.FaultForm == "" && r.Status >= 400 && r.Status < 500 && !slices.Contains([]int{401, 408, 429}, r.Status):
		line("if err == nil { t.Error(\"the call did not fail\") }")
	}
	if w.field("RequestID").IsValid() && !slices.ContainsFunc(w.requests, func(r prepaidtest.Request) bool { return strings.Contains(r.FaultForm, "commit-after") }) {
		line("if twice := server.PaidTwice(); len(twice) > 0 { t.Errorf(\"paid more than once: %%q\", twice) }")
	}
}

// plainSuccess reports whether the response is a success and its body reports no failure.
func (w *writer) plainSuccess() bool {
	r := w.request
	body := strings.ReplaceAll(r.ResponseBody, " ", "")
	failed := regexp.MustCompile(`"transaction_id":(""|null|0)`).MatchString(body) || !strings.Contains(body, "transaction_id")
	return w.succeeded() && r.ErrorCode == "" && !(failed && w.field("RequestID").IsValid()) && !strings.Contains(body, `"success":false`) &&
		!strings.Contains(body, `"outcome":"declined"`)
}

// The settings of reports.
const (
	reportsReady   = "ReportDelay: -1"
	reportsPending = "ReportDelay: time.Hour"
)

// set adds the emulator options that the request needs.
func (w *writer) set() {
	if !w.server.Config().TestEnvironment {
		add(&w.settings, "Production: true")
	}
	if slices.ContainsFunc(w.options, func(text string) bool { return strings.HasPrefix(text, "roots") }) {
		add(&w.settings, "WebhookRoots: roots")
	}
	if strings.HasSuffix(w.request.Template, "/reports/{reportid}") {
		delay := reportsReady
		if w.request.ErrorCode != "" {
			delay = reportsPending
		}
		add(&w.settings, delay)
	}
	if from := w.field("From"); from.IsValid() && !w.request.Time.IsZero() && (!from.IsZero() || !w.field("To").IsZero()) {
		w.settings = slices.DeleteFunc(w.settings, func(text string) bool { return strings.HasPrefix(text, "StartAt: ") }) // only the latest is used
		add(&w.settings, "StartAt: "+literal(reflect.ValueOf(w.request.Time.UTC().Truncate(time.Second))))
	}
}
