package prepaidvcr

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// located is a JSON value with the line on which it starts.
type located struct {
	raw  jsontext.Value
	line int
}

// text returns the value of a string, or the raw form of anything else.
func (l located) text() string {
	if l.raw.Kind() != '"' {
		return string(l.raw)
	}
	plain, err := jsontext.AppendUnquote(nil, l.raw)
	if err != nil {
		return string(l.raw)
	}
	return string(plain)
}

// members reads an object's members with their lines. first is the line on which raw starts.
func members(raw []byte, first int) (map[string]located, bool) {
	decoder := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))
	if begin, err := decoder.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil, false
	}
	found := map[string]located{}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if _, twice := found[key]; err != nil || twice {
			return nil, false
		}
		begin := int(decoder.InputOffset()) - len(value)
		found[key] = located{raw: value.Clone(), line: first + bytes.Count(raw[:begin], []byte("\n"))}
	}
	_, err := decoder.ReadToken()
	return found, err == nil
}

// fixture checks a request and its response in the form described in the project's testdata/README.md. It does not check
// the members that describe them: "about" and "reference".
func (c *checker) fixture(content []byte) error {
	refused := &CassetteError{Rule: "is neither a cassette nor a fixture"}
	root, ok := members(content, 1)
	if !ok || root["request"].raw == nil || root["response"].raw == nil {
		return refused
	}
	request, sent := members(root["request"].raw, root["request"].line)
	response, got := members(root["response"].raw, root["response"].line)
	if !sent || !got {
		return refused
	}
	c.others(root, "fixture", "about", "reference", "request", "response")
	c.others(request, "request", "method", "path", "query", "header", "body", "text")
	c.others(response, "response", "status", "header", "body", "text")
	parameters, ok := members(request["query"].raw, request["query"].line)
	if request["query"].raw != nil && !ok {
		return refused
	}
	status, err := strconv.Atoi(response["status"].text())
	if err != nil {
		c.find(response["status"].line, "response status")
	}
	c.fixtureHeader("request", request["header"])
	c.fixtureHeader("response", response["header"])
	c.exchange(seen{
		method: request["method"].text(), methodLine: request["method"].line,
		url: fixtureAddress(request["path"].text(), parameters), urlLine: request["path"].line, queryLines: linesOf(parameters),
		sent: fixtureBody(request).text, sentLine: fixtureBody(request).line,
		received: fixtureBody(response).text, receivedLine: fixtureBody(response).line, status: status,
	})
	return nil
}

func (c *checker) others(found map[string]located, what string, names ...string) {
	for _, name := range sortedKeys(found) {
		if !slices.Contains(names, name) {
			c.find(found[name].line, what+" "+unknownName)
		}
	}
}

func linesOf(parameters map[string]located) map[string]int {
	lines := map[string]int{}
	for name, value := range parameters {
		lines[name] = value.line
	}
	return lines
}

func fixtureAddress(address string, parameters map[string]located) string {
	query := url.Values{}
	for name, value := range parameters {
		query.Set(name, value.text())
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// placed is a text and the line on which it starts.
type placed struct {
	text string
	line int
}

func fixtureBody(side map[string]located) placed {
	if body := side["body"]; body.raw != nil {
		return placed{string(body.raw), body.line}
	}
	if side["text"].raw == nil {
		return placed{}
	}
	return placed{side["text"].text(), side["text"].line}
}

// fixtureHeader allows headers that a cassette keeps, Accept with media types, and fictional credentials of a request.
func (c *checker) fixtureHeader(what string, header located) {
	values, ok := members(header.raw, header.line)
	if header.raw != nil && !ok {
		c.find(header.line, what+" header")
	}
	for _, name := range sortedKeys(values) {
		value := values[name]
		allowed := keptHeaders[http.CanonicalHeaderKey(name)]
		if name == "Accept" {
			allowed = areKeptTypes
		}
		if (allowed == nil || !allowed(value.text())) && !c.madeUp(value.text()) {
			if allowed == nil && name != "Authorization" {
				name = unknownName
			}
			c.find(value.line, what+" header "+name)
		}
	}
}

func areKeptTypes(value string) bool {
	for one := range strings.SplitSeq(value, ",") {
		if !isKeptType(strings.TrimSpace(one)) {
			return false
		}
	}
	return true
}
