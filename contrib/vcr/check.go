package prepaidvcr

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Finding is a place in a cassette with a value that must not be there. It does not contain that value.
type Finding struct {
	// Line counts from 1.
	Line int
	// Where is the place, such as "response body.personal.first_name".
	Where string
}

// String returns the line and the place.
func (f Finding) String() string { return fmt.Sprintf("line %d: %s", f.Line, f.Where) }

// CheckFile applies [Check] to a file.
func CheckFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return &CassetteError{Path: path, Rule: "cannot be read", Err: err}
	}
	return at(path, Check(bytes.NewReader(content)))
}

// at adds the file's path to a check's error.
func at(path string, err error) error {
	if found, ok := errors.AsType[*UnscrubbedError](err); ok {
		found.Path = path
	}
	if failed, ok := errors.AsType[*CassetteError](err); ok {
		failed.Path = path
	}
	return err
}

// Check reads a cassette and compares its whole content with the schema that scrubs recordings. A value is a finding if
// the schema does not keep it and it is not a pseudonym.
//
// Check recognises a pseudonym by its form. One in ten thousand real numbers with nine digits has that form; of longer numbers, far fewer.
// A text has that form only if it is "anon" and a number, such as anon7. A recording does not depend on the form: it replaces every value.
//
// Errors: *[UnscrubbedError], *[CassetteError] if r is no cassette.
func Check(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return &CassetteError{Rule: "cannot be read", Err: err}
	}
	c := checker{schema: newSchema()}
	if err := c.cassette(content); err != nil {
		return err
	}
	if len(c.findings) == 0 {
		return nil
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return &UnscrubbedError{Findings: slices.Compact(c.findings)}
}

type checker struct {
	schema   *schema
	findings []Finding
}

func (c *checker) find(line int, where string) {
	c.findings = append(c.findings, Finding{Line: line, Where: where})
}

// leaves reports values that are neither kept nor pseudonyms. The offsets of the leaves refer to text.
func (c *checker) leaves(what, text string, line int, leaves []leaf) {
	for _, l := range leaves {
		if l.clean() {
			continue
		}
		c.find(line+strings.Count(text[:min(int(l.offset), len(text))], "\n"), what+" "+l.where)
	}
}

// seen is the visible content of one exchange, with line numbers.
type seen struct {
	method, url, sent, received                 string
	status                                      int
	methodLine, urlLine, sentLine, receivedLine int
	columns                                     columns
	named                                       named
}

func (c *checker) exchange(s seen) {
	address, err := url.Parse(s.url)
	if err != nil {
		c.find(s.urlLine, "request address")
		return
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, s.method) {
		c.find(s.methodLine, "request method")
	}
	if address.User != nil || address.Fragment != "" || address.Opaque != "" {
		c.find(s.urlLine, "request address")
	}
	known := c.schema.with(s.named)
	request := known.request(newPseudonyms(), s.method, address, []byte(s.sent))
	bodyAt := slices.IndexFunc(request.leaves, func(l leaf) bool { return strings.HasPrefix(l.where, "body") })
	if bodyAt < 0 {
		bodyAt = len(request.leaves)
	}
	c.leaves("request", "", s.urlLine, request.leaves[:bodyAt])
	c.leaves("request", s.sent, s.sentLine, request.leaves[bodyAt:])
	work := &scrubber{names: newPseudonyms(), columns: s.columns}
	_, leaves := known.response(work, request.operation, s.status, []byte(s.received))
	used := http.Header{}
	s.named.list(used, request.operation, slices.Concat(request.used, work.used))
	if got := namedBy(used); !reflect.DeepEqual(got, s.named) {
		c.find(s.urlLine, "request header "+keptNamesHeader)
	}
	if !slices.Equal(work.header, s.columns.names) || !isSubset(s.columns.amounts, work.header) {
		c.find(s.receivedLine, "response header "+columnsHeader) // other text must not hide there
	}
	c.leaves("response", s.received, s.receivedLine, leaves)
}

func isSubset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// cassette reads the file as YAML, and so also finds text that go-vcr would skip.
func (c *checker) cassette(content []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) != 1 {
		return &CassetteError{Rule: "is no cassette"}
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return &CassetteError{Rule: "has more than one document"}
	}
	c.lines(string(content))
	c.plain(&document)
	root := c.mapping(document.Content[0], "cassette", "version", "interactions")
	if root["interactions"] == nil || root["interactions"].Kind != yaml.SequenceNode {
		return &CassetteError{Rule: "is no cassette"}
	}
	c.constant(root["version"], "version", "2")
	for _, node := range root["interactions"].Content {
		c.interaction(node)
	}
	return nil
}

var (
	// outerLine is a line that starts in the first column of a cassette.
	outerLine = regexp.MustCompile(`^(---|version: 2|interactions:( \[\])?|- .*|)\r?$`)
	// crowdedBlock is the head of a text block, followed by other text on the same line.
	crowdedBlock = regexp.MustCompile(`^ *(- )?[a-z_]+: [|>][-+0-9]*[ \t]+[^ \t\r]`)
)

// lines reports lines that a YAML reader skips: directives, ends of documents, comments.
func (c *checker) lines(content string) {
	for number, line := range strings.Split(content, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "#"):
			c.find(number+1, "a comment")
		case !strings.HasPrefix(line, " ") && !outerLine.MatchString(line), crowdedBlock.MatchString(line):
			c.find(number+1, "what a recording does not write")
		}
	}
}

// plainTags are the tags of values without explicit tags.
var plainTags = []string{"", "!!map", "!!seq", "!!str", "!!int", "!!bool", "!!float", "!!null"}

// plain reports YAML elements that can hide text: comments, anchors, tags.
func (c *checker) plain(node *yaml.Node) {
	if node.HeadComment != "" || node.LineComment != "" || node.FootComment != "" {
		c.find(node.Line, "a comment")
	}
	if node.Anchor != "" || node.Alias != nil {
		c.find(node.Line, "an anchor or alias")
	}
	if node.Style&yaml.TaggedStyle != 0 || !slices.Contains(plainTags, node.Tag) {
		c.find(node.Line, "a tag")
	}
	for _, inner := range node.Content {
		c.plain(inner)
	}
}

func (c *checker) interaction(node *yaml.Node) {
	parts := c.mapping(node, "interaction", "id", "request", "response")
	common := []string{"proto", "proto_major", "proto_minor", "content_length", "headers", "body", "uncompressed"}
	request := c.mapping(parts["request"], "request", append(common, "host", "url", "method")...)
	response := c.mapping(parts["response"], "response", append(common, "status", "code", "duration")...)
	c.number(parts["id"], "id")
	var listed columns
	var names named
	for what, side := range map[string]map[string]*yaml.Node{"request": request, "response": response} {
		c.constant(side["proto"], what+" proto", "HTTP/1.1", "")
		c.constant(side["uncompressed"], what+" uncompressed", "false")
		for _, name := range []string{"proto_major", "proto_minor", "content_length"} {
			c.number(side[name], what+" "+name)
		}
		own := map[string][]string{"request": {keptNamesHeader, scrubbedNamesHeader, callHeader}, "response": {columnsHeader, amountsHeader}}
		header := c.headers(side["headers"], what, append(sortedKeys(keptHeaders), own[what]...))
		if what == "response" {
			listed = columnsOf(header)
		} else {
			names = namedBy(header)
		}
		for _, name := range sortedKeys(side) {
			if name != "headers" && side[name].Kind != yaml.ScalarNode {
				c.find(side[name].Line, what+" "+name)
			}
		}
	}
	c.constant(request["host"], "request host", serviceHost, "")
	c.constant(response["duration"], "response duration", "0s", "0")
	code, _ := strconv.Atoi(text(response["code"]))
	c.number(response["code"], "response code")
	status := strings.TrimSpace(text(response["code"]) + " " + http.StatusText(code))
	if code == 0 {
		status = lost
	}
	c.constant(response["status"], "response status", status)
	address := text(request["url"])
	if !strings.HasPrefix(address, "https://"+serviceHost+apiRoot+"/") {
		c.find(line(request["url"]), "request address")
	}
	c.exchange(seen{
		method: text(request["method"]), url: address, sent: text(request["body"]), received: text(response["body"]), status: code,
		methodLine: line(request["method"]), urlLine: line(request["url"]),
		sentLine: line(request["body"]), receivedLine: line(response["body"]), columns: listed, named: names,
	})
}

// mapping returns the values of a mapping, and reports members that are not in names.
func (c *checker) mapping(node *yaml.Node, what string, names ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	if node == nil || node.Kind != yaml.MappingNode {
		if node != nil {
			c.find(node.Line, what)
		}
		return values
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		if !slices.Contains(names, name) || values[name] != nil {
			c.find(node.Content[i].Line, what+" "+unknownName)
			continue
		}
		values[name] = node.Content[i+1]
	}
	return values
}

func (c *checker) constant(node *yaml.Node, what string, values ...string) {
	if node != nil && (node.Kind != yaml.ScalarNode || !slices.Contains(values, node.Value)) {
		c.find(node.Line, what)
	}
}

func (c *checker) number(node *yaml.Node, what string) {
	if node == nil {
		return
	}
	if n, err := strconv.Atoi(node.Value); err != nil || n < -1 || n > maxRecorded || node.Kind != yaml.ScalarNode {
		c.find(node.Line, what)
	}
}

// headers checks one side's headers, which may have only the given names, and returns their values.
func (c *checker) headers(node *yaml.Node, what string, names []string) map[string][]string {
	found := map[string][]string{}
	if node == nil || node.Kind == yaml.MappingNode && len(node.Content) == 0 {
		return found
	}
	for name, values := range c.mapping(node, what+" header", names...) {
		allowed := keptHeaders[name]
		switch {
		case name == callHeader:
			allowed = isCall
		case allowed == nil:
			allowed = isColumn
		}
		for _, value := range values.Content {
			if value.Kind != yaml.ScalarNode || !allowed(value.Value) {
				c.find(value.Line, what+" header "+name)
			}
			found[name] = append(found[name], value.Value)
		}
		if values.Kind != yaml.SequenceNode {
			c.find(values.Line, what+" header "+name)
		}
	}
	return found
}

func text(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	return node.Value
}

// line returns the line on which a node's text starts: for a block, one line below the node.
func line(node *yaml.Node) int {
	switch {
	case node == nil:
		return 0
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return node.Line + 1
	}
	return node.Line
}
