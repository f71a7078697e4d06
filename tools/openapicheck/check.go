package main

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// entry is a request with its response, as recorded by the emulator.
type entry struct {
	Operation string      `json:"operation"`
	Params    []string    `json:"params"`
	Query     string      `json:"query"`
	Request   string      `json:"request"`
	Status    int         `json:"status"`
	Header    http.Header `json:"header"`
	Body      string      `json:"body"`
}

// check returns the faults of an entry, without values of the entry, and adds the covered places to seen.
func (d *document) check(e entry, seen map[string]bool) []string {
	method, template, _ := strings.Cut(e.Operation, " ")
	operation := "/paths/" + escape(template) + "/" + strings.ToLower(method)
	where := e.Operation + " " + strconv.Itoa(e.Status) + ": "
	response, pointer := d.at(operation + "/responses/" + strconv.Itoa(e.Status))
	if response == nil {
		return []string{where + "the status is not in the document"}
	}
	seen["status "+pointer] = true
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, where+fmt.Sprintf(format, args...)) }
	d.checkHeaders(e, response, pointer, add)
	d.checkBody(e, pointer, seen, add)
	if e.Status >= 300 {
		if description, is := d.errorOf(e)["error_description"].(string); is && strings.HasPrefix(description, "invalid fields: ") && formal(description) {
			if d.checkRequest(e, operation, nil) == nil {
				add("the document allows a request that was refused: %s", description)
			}
		}
		return faults
	}
	if err := d.checkRequest(e, operation, seen); err != nil {
		add("an accepted request: %s", rule(err))
	}
	return faults
}

func (d *document) checkHeaders(e entry, response node, pointer string, add func(string, ...any)) {
	documented, _ := response["headers"].(node)
	known := make(map[string]string)
	for name := range documented {
		known[http.CanonicalHeaderKey(name)] = name
		header, at := d.at(pointer + "/headers/" + name)
		value := e.Header.Get(name)
		switch {
		case value == "" && isRequired(header):
			add("the header %s is missing", name)
		case value != "":
			if err := d.validate(at+"/schema", number(value)); err != nil {
				add("the header %s: %s", name, rule(err))
			}
		}
	}
	for name := range e.Header {
		if known[name] == "" && !slices.Contains([]string{"Content-Type", "Content-Length", "Date"}, name) {
			add("the header %s is not in the document", name)
		}
	}
}

func isRequired(about node) bool {
	required, _ := about["required"].(bool)
	return required
}

// number returns the text of a header as a JSON value.
func number(text string) any {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text
	}
	return value
}

func (d *document) checkBody(e entry, pointer string, seen map[string]bool, add func(string, ...any)) {
	response, _ := d.at(pointer)
	contents, _ := response["content"].(node)
	media := e.Header.Get("Content-Type")
	switch {
	case len(contents) == 0 && (media != "" || e.Body != ""):
		add("there is a body, and none is in the document")
		return
	case len(contents) == 0:
		return
	case contents[media] == nil:
		add("the media type is not in the document")
		return
	}
	schema := pointer + "/content/" + escape(media) + "/schema"
	if media == "application/octet-stream" {
		if err := d.validate(schema, e.Body); err != nil || e.Body == "" {
			add("the text is not valid")
		}
		return
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.Body))
	if err != nil {
		add("the body is not JSON")
		return
	}
	if err := d.validate(schema, value); err != nil {
		add("the body: %s", rule(err))
	}
	d.mark("response", schema, value, seen)
	if codes, has := response["x-error-codes"].(node); has {
		code, _ := d.errorOf(e)["error"].(string)
		if codes[code] == nil {
			add("the code %q is not in the document", code)
		}
		seen["code "+pointer+" "+code] = true
	}
}

func (d *document) errorOf(e entry) node {
	value, _ := jsonschema.UnmarshalJSON(strings.NewReader(e.Body))
	problem, _ := value.(node)
	return problem
}

// checkRequest compares a request's query and body with the operation. seen is nil for a refused request.
func (d *document) checkRequest(e entry, operation string, seen map[string]bool) error {
	about, _ := d.at(operation)
	query, err := url.ParseQuery(e.Query)
	if err != nil {
		return err
	}
	params := e.Params
	for _, parameter := range list(about["parameters"]) {
		name := parameter["name"].(string)
		values, has := query[name]
		if parameter["in"] == "path" {
			values, has, params = params[:1], true, params[1:]
		}
		switch {
		case !has && isRequired(parameter):
			return errors.New(name + " is required")
		case !has:
			continue
		case len(values) > 1:
			return errors.New(name + " is given more than once")
		}
		delete(query, name)
		if err := d.validateParameter(parameter["schema"].(node), values[0]); err != nil {
			return errors.New(name + ": " + rule(err))
		}
		if seen != nil {
			seen["parameter "+operation+" "+name] = true
		}
	}
	if len(query) > 0 {
		return errors.New(slices.Sorted(maps.Keys(query))[0] + " is not a parameter of this operation")
	}
	if about["requestBody"] == nil {
		return nil
	}
	schema := d.schemaOf(operation + "/requestBody")
	value, err := requestBody(e)
	if err == nil {
		err = d.validate(schema, value)
	}
	if err == nil && seen != nil {
		d.mark("request", schema, value, seen)
	}
	return err
}

func (d *document) validateParameter(schema node, text string) error {
	if to, is := schema["$ref"].(string); is {
		schema, _ = d.at(strings.TrimPrefix(to, "#"))
	}
	var value any = text
	if schema["type"] != "string" {
		value = number(text)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("file:///parameter.json", schema); err != nil {
		return err
	}
	compiled, err := compiler.Compile("file:///parameter.json")
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// requestBody reads a form or JSON.
func requestBody(e entry) (any, error) {
	if e.Operation == "POST /token" {
		form, err := url.ParseQuery(e.Request)
		object := node{}
		for name := range form {
			object[name] = form.Get(name)
		}
		return object, err
	}
	text := otherAmounts.ReplaceAllString(e.Request, "${1}0")
	if strings.HasPrefix(e.Operation, "POST /simulation/") {
		text = quotedAmounts.ReplaceAllString(text, "$1$2")
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(text))
}

// rule returns the text of an error, without values.
func rule(err error) string {
	invalid, is := errors.AsType[*jsonschema.ValidationError](err)
	if !is {
		return err.Error()
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	at := make([]string, len(invalid.InstanceLocation))
	for i, name := range invalid.InstanceLocation {
		if _, err := strconv.Atoi(name); err == nil {
			name = "*"
		}
		at[i] = name
	}
	said := "/" + strings.Join(invalid.ErrorKind.KeywordPath(), "/")
	switch invalid.ErrorKind.(type) {
	case *kind.Required, *kind.AdditionalProperties: // their text has only names
		said = invalid.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	}
	return strings.Join(at, ".") + " " + said
}
