package conformance

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
)

const maxBody = 32 << 20

// probe is one running case.
type probe struct {
	target    Target
	token     string
	context   func() context.Context
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

// stop records a violation, and ends the case.
func (p *probe) stop(field, rule string) {
	p.fail(field, rule)
	runtime.Goexit()
}

// call makes a request with the case's token.
func (p *probe) call(operation string, changes values) *response {
	return p.send(newRequest(&p.target, operation, changes), p.bearer())
}

// send makes a request, and checks the response by the document.
func (p *probe) send(r *request, authorization string) *response {
	address := strings.TrimSuffix(p.target.BaseURL+r.path+"?"+r.query.Encode(), "?")
	sent, err := http.NewRequestWithContext(p.context(), r.operation.Method, address, strings.NewReader(r.body))
	if err != nil {
		p.stop("request", "cannot be made of this target")
	}
	json := "application/vnd." + p.target.Vendor + "+json"
	switch {
	case r.operation.Safety == "token":
		sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case r.body != "":
		sent.Header.Set("Content-Type", json)
	}
	if authorization != "" {
		sent.Header.Set("Authorization", authorization)
	}
	sent.Close = r.operation.Also["204"] == "body" // a 204 with a body makes the connection unusable
	got, err := p.target.HTTPClient.Do(sent)
	if err != nil {
		p.stop("response", "none arrived")
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxBody))
	if err != nil {
		p.stop("response", "was cut short")
	}
	checked := &response{probe: p, Response: check.Response{
		Operation: r.operation, Query: r.query, MediaType: json, Status: got.StatusCode, Header: got.Header, Body: body,
	}}
	checked.check()
	return checked
}

// sleep ends early with the test.
func (p *probe) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.context().Done():
	}
}

// bearer returns the case's authorization.
func (p *probe) bearer() string {
	if p.token == "" {
		r := p.askToken(p.target.ClientID, p.target.ClientSecret, "grant_type=client_credentials")
		p.token, _ = r.object()["access_token"].(string)
	}
	return "Bearer " + p.token
}

// askToken asks for a token. Without an ID, the request has no credentials.
func (p *probe) askToken(id, secret, form string) *response {
	request := newRequest(&p.target, "Token", nil)
	request.body = form
	if id == "" {
		return p.send(request, "")
	}
	return p.send(request, "Basic "+base64.StdEncoding.EncodeToString([]byte(id+":"+secret)))
}

// response is an HTTP response.
type response struct {
	*probe
	check.Response
}

// check compares the response with the document. A violation ends the case.
func (r *response) check() {
	violations := r.Check()
	for _, v := range violations {
		r.failIn(v.Section, v.Field, v.Rule)
	}
	if len(violations) > 0 {
		runtime.Goexit()
	}
}

// is ends the case unless the response has one of the statuses.
func (r *response) is(statuses ...int) *response {
	if !slices.Contains(statuses, r.Status) {
		r.stop("status", fmt.Sprintf("must be one of %v, is %d", statuses, r.Status))
	}
	return r
}

// ok ends the case unless the status is one of a success.
func (r *response) ok() *response {
	if r.Status >= http.StatusBadRequest {
		r.stop("status", "must be that of a success, is "+strconv.Itoa(r.Status))
	}
	return r
}

// object returns the object of a success.
func (r *response) object() map[string]any {
	object, _ := r.ok().Value.(map[string]any)
	return object
}

// objects returns the objects of a success: none without a body.
func (r *response) objects() []map[string]any {
	list, ok := r.ok().Value.([]any)
	if !ok && r.Value != nil {
		list = []any{r.Value}
	}
	found := make([]map[string]any, len(list))
	for i, element := range list {
		found[i], _ = element.(map[string]any)
	}
	return found
}

// refused checks the status of an error and, if it is not empty, the code.
func (r *response) refused(code string, statuses ...int) {
	if body, _ := r.is(statuses...).Value.(map[string]any); code != "" && body["error"] != code {
		r.fail("error", "must be "+code)
	}
}

// count returns the number in a header.
func (r *response) count(name string) int {
	n, _ := strconv.Atoi(r.Header.Get(name))
	return n
}
