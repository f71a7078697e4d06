package check

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// Response is a response of an operation.
type Response struct {
	Operation *reference.Operation
	Query     url.Values // of the request
	MediaType string     // of JSON bodies

	Status int
	Header http.Header
	Body   []byte
	Value  any // of a JSON body, after Check; numbers are of type json.Number

	found []Violation
}

// Violation is a rule of the document that a response breaks.
type Violation struct{ Section, Field, Rule string }

func (r *Response) add(section, field, rule string) {
	r.found = append(r.found, Violation{section, field, rule})
}

// Check compares status, headers and body with the document. An error can have a status that is not listed: the form of its body is the
// same for all.
func (r *Response) Check() []Violation {
	section := r.Operation.Section
	payload, listed := r.Operation.Results.Get(strconv.Itoa(r.Status))
	if !listed {
		if r.Status < 400 {
			r.add(section, "status", "must be listed for the operation, is "+strconv.Itoa(r.Status))
			return r.found
		}
		serverError, _ := r.Operation.Results.Get("500")
		payload = &reference.Payload{Content: serverError.Content}
	}
	for _, name := range slices.Sorted(maps.Keys(payload.Headers)) {
		if n, err := strconv.Atoi(r.Header.Get(name)); err != nil || n < 0 {
			r.add("1", name, "must be a number")
		}
	}
	switch {
	case len(r.Body) == 0 && r.Status == http.StatusNoContent: // net/http reads no body of a 204
	case payload.JSON() != nil:
		r.json(payload)
	case len(payload.Content) > 0:
		r.octets()
	case len(r.Body) > 0 && r.Operation.Body != "any":
		r.add(section, "body", "must be empty")
	}
	return r.found
}

func (r *Response) json(payload *reference.Payload) {
	if r.Header.Get("Content-Type") != r.MediaType {
		r.add("1", "Content-Type", "must be application/vnd.<vendor>+json")
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	if !json.Valid(r.Body) || decoder.Decode(&r.Value) != nil {
		r.add(r.Operation.Section, "body", "must be JSON")
		return
	}
	schema := payload.JSON()
	checker := Checker{Response: true, Asked: r.Query}
	checker.value("", schema, bytes.TrimSpace(r.Body))
	for _, fault := range checker.Found {
		field := strings.Replace(strings.TrimSuffix("body."+fault.Field, "."), ".[", "[", 1)
		r.add(section(schema, fault.Field, r.Operation.Section), field, fault.Rule)
	}
	body, _ := r.Value.(map[string]any)
	if code, ok := body["error"].(string); ok && len(payload.Codes) > 0 && !slices.Contains(payload.Codes, code) {
		r.add(r.Operation.Section, "error", "must be one of "+strings.Join(payload.Codes, ", "))
	}
}

// section returns the section of the innermost schema around a field that has one.
func section(s *reference.Schema, field, outer string) string {
	if s.Section != "" {
		outer = s.Section
	}
	if strings.HasPrefix(field, "[") {
		_, rest, _ := strings.Cut(field, "]")
		return section(s.Items, strings.TrimPrefix(rest, "."), outer)
	}
	end := strings.IndexAny(field+".", ".[")
	if member, ok := s.Properties.Get(field[:end]); ok {
		return section(member, strings.TrimPrefix(field[end:], "."), outer)
	}
	return outer
}

func (r *Response) octets() {
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); media != "application/octet-stream" {
		r.add(r.Operation.Section, "Content-Type", "must be application/octet-stream")
	}
	if r.Text() == "" {
		r.add(r.Operation.Section, "body", "must be a string that is not empty")
	}
}

// Text returns the string of a body that is not JSON.
func (r *Response) Text() string { return strings.Trim(strings.TrimSpace(string(r.Body)), `"`) }
