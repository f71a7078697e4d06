// Package gotest writes a Go test that repeats a request of the emulator's log, with the SDK and on its own emulator.
//
// The test seeds the accounts as the request found them, arms the fault that it met, makes the call, and compares status and
// code with those of the log. Any refusal except that of a missing account is armed as a fault, so that the test
// reproduces it whatever the cause was. Secrets and personal data are fictional: the log does not have them.
package gotest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"go/format"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// writer collects the parts of one test.
type writer struct {
	server  *prepaidtest.Server
	request prepaidtest.Request
	call    call
	options []string
	seeds   []string
	before  []string // steps that the request builds on
	refused bool     // by the SDK, before it is sent
	mark    string   // around expressions; callers cannot guess it
}

// expression is a Go expression in place of a value, such as the id of a webhook that the test has made first.
func (w *writer) expression(text string) string { return w.mark + text + w.mark }

// insertExpressions replaces the marked strings by their expressions.
func (w *writer) insertExpressions(code string) string {
	return strings.NewReplacer("\""+w.mark, "", w.mark+"\"", "").Replace(code)
}

// Write returns the test as a file. It fails, with a plain reason, for a request that the SDK cannot have sent.
func Write(server *prepaidtest.Server, r prepaidtest.Request) (string, error) {
	client, err := prepaid.NewClient(server.Config())
	if err != nil {
		return "", errors.New("this emulator's settings make no client")
	}
	defer func() { _ = client.Close() }()
	made, err := callOf(client, r)
	if err != nil {
		return "", fmt.Errorf("the SDK cannot send this request: %w", err)
	}
	w := &writer{server: server, request: r, call: made, mark: rand.Text()}
	w.renameRequestID()
	if uri := w.field("URI"); uri.IsValid() && uri.String() != "" {
		uri.SetString("https://receiver.example/") // the log redacts possible secrets
	}
	if w.refused = w.invalid(made) && !w.sealed(); !w.refused {
		w.prepare()
	}
	text, err := format.Source([]byte(w.insertExpressions(w.file())))
	if err != nil {
		return "", fmt.Errorf("the test cannot be written: %w", err)
	}
	return string(text), nil
}

// invalid reports whether the SDK refuses a call before sending it.
func (w *writer) invalid(c call) bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nothing is sent
	results := c.function.Call(append([]reflect.Value{reflect.ValueOf(ended)}, c.arguments...))
	err, _ := results[len(results)-1].Interface().(error)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	return invalid
}

// field is a field of the call's params, invalid if it has none.
func (w *writer) field(name string) reflect.Value {
	for _, argument := range w.call.arguments {
		if argument.Kind() == reflect.Struct && argument.FieldByName(name).IsValid() {
			return argument.FieldByName(name)
		}
	}
	return reflect.Value{}
}

// renameRequestID replaces a request id with a date, as the test must not expire, and adds an absent one.
func (w *writer) renameRequestID() {
	field := w.field("RequestID")
	if !field.IsValid() {
		return
	}
	if _, dated := prepaid.RequestID(field.String()).Date(); dated || field.String() == "" {
		field.SetString(fmt.Sprintf("request-%d", w.request.Number))
	}
}

func (w *writer) operation() string { return w.request.Method + " " + w.request.Template }

func (w *writer) succeeded() bool {
	return w.request.Status >= http.StatusOK && w.request.Status < http.StatusMultipleChoices
}

// naturally reports whether the state alone causes the response. Others are armed.
func (w *writer) naturally() bool {
	missing := w.request.Status == http.StatusNotFound && w.request.ErrorCode == "account_not_found" && w.request.AccountStatus == ""
	return w.request.FaultForm != "" || w.request.Status == 0 || w.succeeded() || missing
}

func (w *writer) file() string {
	var body strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&body, format+"\n", args...) }
	r := w.request
	line("func TestRequest%d(t *testing.T) {", r.Number)
	for _, part := range [][]string{w.options, {"server := prepaidtest.NewServer(t, prepaidtest.Options{" + strings.Join(w.serverOptions(), ", ") + "})"}, w.seeds, {"client := server.Client()"}, w.before} {
		for _, text := range part {
			line("%s", text)
		}
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
	line("}")
	return w.header(body.String()) + body.String()
}

// header is the text before the test: its package and imports.
func (w *writer) header(body string) string {
	var text strings.Builder
	text.WriteString("package emulator_test\n\nimport (\n")
	for _, name := range []string{"crypto/x509", "errors", "net/http", "net/http/httptest", "slices", "testing", "time"} {
		if strings.Contains(body, name[strings.LastIndex(name, "/")+1:]+".") {
			text.WriteString("\"" + name + "\"\n")
		}
	}
	text.WriteString("\n")
	for _, name := range []string{"prepaid", "prepaidtest"} {
		if strings.Contains(body, name+".") {
			text.WriteString("\"" + strings.TrimSuffix("github.com/cardprograms/prepaid/"+name, "/prepaid") + "\"\n")
		}
	}
	text.WriteString(")\n\n")
	outcome := strconv.Itoa(w.request.Status)
	if w.request.Status == 0 {
		outcome = "cut"
	}
	fmt.Fprintf(&text, "// Request %d of the emulator, %s: %s, %s.\n", w.request.Number, w.request.Time.UTC().Format("2006-01-02 15:04:05 UTC"),
		w.operation(), strings.TrimSpace(outcome+" "+w.request.ErrorCode))
	return text.String()
}

func (w *writer) arm(line func(string, ...any)) {
	form := w.request.FaultForm
	switch {
	case w.refused:
		return
	case !w.naturally():
		line("// The service refused it: %s. This fault makes the test's emulator do the same.", cmp.Or(oneLine(w.request.ErrorDescription), "no reason given"))
		form = prepaidtest.Respond(w.request.Status, w.request.ErrorCode).String()
	}
	if form == "" {
		return
	}
	line("fault, err := prepaidtest.ParseFault(%q)", form)
	line("if err != nil { t.Fatal(err) }")
	line("server.Inject(%q, fault)", w.operation())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// check compares the service's requests with the log, and describes how the SDK handled them.
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
	if w.field("RequestID").IsValid() && !strings.Contains(r.FaultForm, "commit-after") {
		line("if twice := server.PaidTwice(); len(twice) > 0 { t.Errorf(\"paid more than once: %%q\", twice) }")
	}
}

// plainSuccess is a success whose body reports no failure.
func (w *writer) plainSuccess() bool {
	r := w.request
	body := strings.ReplaceAll(r.ResponseBody, " ", "")
	failedTransfer := w.field("RequestID").IsValid() && (strings.Contains(body, `"transaction_id":""`) || strings.Contains(body, `"transaction_id":null`) ||
		strings.Contains(body, `"transaction_id":0`) || !strings.Contains(body, "transaction_id"))
	return w.succeeded() && r.ErrorCode == "" && !failedTransfer && !strings.Contains(body, `"success":false`) && !strings.Contains(body, `"outcome":"declined"`)
}

// serverOptions are the test's emulator options.
func (w *writer) serverOptions() []string {
	var options []string
	if w.server.Config().Environment == prepaid.EnvironmentProduction {
		options = append(options, "Production: true")
	}
	if slices.ContainsFunc(w.options, func(text string) bool { return strings.HasPrefix(text, "roots") }) {
		options = append(options, "WebhookRoots: roots")
	}
	if strings.HasSuffix(w.request.Template, "/reports/{reportid}") {
		delay := "-1"
		if w.request.ErrorCode != "" {
			delay = "time.Hour"
		}
		options = append(options, "ReportDelay: "+delay)
	}
	if from := w.field("From"); from.IsValid() && !w.request.Time.IsZero() && (!from.IsZero() || !w.field("To").IsZero()) {
		options = append(options, "StartAt: "+literal(reflect.ValueOf(w.request.Time.UTC().Truncate(time.Second))))
	}
	return options
}
