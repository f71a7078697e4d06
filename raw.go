package prepaid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/address"
	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/wire"
	"github.com/cardprograms/prepaid/ratelimit"
)

// RawRequest describes a call of [Client.Do]. Method and Path are required.
type RawRequest struct {
	Method string // GET, POST, PUT, PATCH or DELETE
	// Path is a template relative to the base address, such as "/accounts/{id}/expiry". A segment is a name in braces or consists of letters,
	// '-' and '_'. Path names the call in errors, logs and metrics: put the ID in PathValues.
	Path       string
	PathValues map[string]string `redact:"personal"` // the values of the names in Path, without the braces: letters, digits, '.', '-' and '_'
	Query      url.Values        `redact:"content"`  // the query; optional
	// Body is a value that marshals to a JSON object or array, by the rules of encoding/json/v2 (omitzero leaves out a zero, omitempty keeps 0
	// and false); nil for none. A [time.Time] is sent in UTC, to the second; a [Secret] or an [EphemeralKey] is sent unredacted. The params of
	// a method, also embedded in a struct with more members, are sent as by that method, but not validated. A [Cardholder] with
	// UnlistedMembers needs a field name; one with text that is not Unicode is refused: only Update can send it back.
	Body any `redact:"content"`
	// Header has further headers. Refused are headers of the client, the connection and proxies, such as Authorization, Content-Type, Cookie
	// and X-Forwarded-Host; headers that replace method or path, such as X-HTTP-Method-Override and X-Original-URL; and names with
	// "idempotency": net/http would repeat such requests.
	Header http.Header `redact:"content"`
	// Repeatable permits the client to repeat the request, within Config.Retry, after an attempt that may have reached the service and got no
	// usable response. Without it, the outcome is then unknown. Set it for a GET that changes nothing (class read), or for a request that
	// fails safe even if it is repeated after other changes, such as blocking a card (class repeated). Never set it for a request that moves
	// money, creates something or could overwrite newer changes: Do has no class keyed.
	Repeatable bool
}

func (r *RawRequest) class() class {
	switch {
	case !r.Repeatable:
		return classNever
	case r.Method == http.MethodGet:
		return classRead
	}
	return classRepeated
}

// Do makes a call for which this version has no method, or a known call with more members, parameters or headers. It behaves as all other
// calls do (lane [ratelimit.Call]), but each request opens its own connection. For a known operation, set Path to the reference's template
// and leave Repeatable false: reads are repeated anyway. Of those that move money, the simulator's included, Do calls only POST /accounts:
// its initial load is never repeated, as with [AccountsService.Create]. For any other known operation, the error names the Go method, whose
// params have [ExtraMembers].
//
// A success has a status that the operation's method accepts or, for an unknown operation, 200, 201, 202 or 204. Its body may be a refusal,
// which only you can recognise. If the body is unreadable, the outcome is unknown, except for a read. out is nil, to ignore the body, or a
// pointer that receives its JSON value; an *[encoding/json.RawMessage] receives the unchanged body, and only it that of GET
// /reporting/templates/{templatename} and POST /accounts/{id}/dip, which is not JSON. A 204 sets the target to zero, and an error leaves it
// unchanged. Names of members must match exactly. A missing member is zero, but an error if a type of this package requires it, also one
// that your struct embeds ([Message] and [WalletDevice] need a field name). Errors: *[ValidationError]; [ErrNotFound] for an unknown path;
// [ErrReportNotReady]. Safety: as Repeatable declares.
func (c *Client) Do(ctx context.Context, r RawRequest, out any) error {
	described := request{op: operation{
		Operation: Operation{Name: "Do"},
		class:     r.class(), kind: responseJSON, lane: ratelimit.Call,
		success: []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent},
		// Unknown, so assumed: a body may be a refusal, and may follow a 204.
		modelsFailure: true, bodyAfter204: true,
	}}
	var v validator
	segments := r.check(&v, &described)
	if kind := reflect.ValueOf(out); out != nil && (kind.Kind() != reflect.Pointer || kind.IsNil()) {
		v.fault("out", "must be nil or a pointer that is not")
	}
	if len(v.faults) == 0 && plainSegment(segments[0]) == "simulation" {
		v.simulator(c.config)
	}
	_, unchanged := out.(*json.RawMessage)
	if described.op.kind != responseJSON && out != nil && !unchanged {
		v.fault("out", "must be nil or a *json.RawMessage: the body of "+described.op.Name+" is not JSON")
	}
	described.faults = v.faults
	var received reflect.Value // out is not changed until the call has succeeded
	if out != nil && len(v.faults) == 0 {
		received = reflect.New(reflect.TypeOf(out).Elem())
	}
	err := c.do(ctx, &described, func(a *response) (err error) {
		switch {
		case a.status == http.StatusNoContent && described.op.Name == opReportingResult.Name:
			return ErrReportNotReady
		case out == nil || a.status == http.StatusNoContent:
			if !a.fromService() {
				return a.undecodable(errUnexpectedBody)
			}
			return nil
		case described.op.kind == responseData:
			err = a.checkData()
		case described.op.kind == responseText:
			_, err = decodeReportID(a)
		default:
			err = unmarshal(a, received.Interface())
		}
		if err == nil && unchanged {
			received.Elem().SetBytes(bytes.Clone(a.body))
		}
		return err
	})
	if err == nil && out != nil {
		reflect.ValueOf(out).Elem().Set(received.Elem())
	}
	return err
}

// check collects the faults of r, sets the request, and returns the segments of the path. The operation's name has only checked values.
func (r *RawRequest) check(v *validator, described *request) []string {
	if !slices.Contains([]string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}, r.Method) {
		v.fault("method", "must be GET, POST, PUT, PATCH or DELETE")
	}
	named := len(v.faults) == 0
	segments, ok := r.segments(v)
	if named && ok {
		described.op.Operation = Operation{r.Method + " " + r.Path, r.Method, r.Path}
	}
	known := operationsAt(segments)
	if op := r.callable(known); op != nil {
		class := classNever // whether a repeat is safe may depend on the params
		if op.class == classRead {
			class = classRead
		}
		described.op = *op
		described.op.class, described.op.modelsFailure, described.op.bodyAfter204 = class, true, true
		if op.kind != responseText && op.kind != responseData {
			described.op.kind = responseJSON
		}
		if r.Repeatable {
			v.fault("repeatable", "must be left out for "+op.Name+", whose class is known")
		}
	} else if len(known) > 0 {
		names := make([]string, len(known))
		for i, op := range known {
			names[i] = op.Name
		}
		v.fault("path", "is that of "+strings.Join(names, " and ")+": call that instead")
	}
	described.header = r.Header.Clone()
	r.checkHeader(v)
	described.expanded = "/" + strings.Join(segments, "/")
	described.query = r.query(v)
	if r.Body != nil {
		described.encoded = r.encode(v, &described.op)
	}
	return segments
}

func (r *RawRequest) checkHeader(v *validator) {
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		switch {
		case name == "" || !ascii.IsName(name):
			v.fault("header", "must have names of letters, digits, '.', '-' and '_'")
		case !isFreeHeader(name):
			v.fault("header."+name, "must be left out: the client, the connection or a proxy sets it, or it replaces method or path")
		case slices.ContainsFunc(r.Header[name], func(value string) bool { return !isHeaderValue(value) }):
			v.fault("header."+name, "must have values of printable ASCII")
		}
	}
}

// query returns the parameters in the order of their names.
func (r *RawRequest) query(v *validator) (list query) {
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		for _, value := range r.Query[name] {
			if name == "" || !utf8.ValidString(name) || !utf8.ValidString(value) {
				v.fault("query", "must have names and be valid UTF-8")
			}
			list = append(list, address.Parameter{Name: name, Value: value})
		}
	}
	return list
}

// segments returns the segments of the path with their values, nil after a fault. ok reports whether the template is valid.
func (r *RawRequest) segments(v *validator) (segments []string, ok bool) {
	names := 0
	root, path, _ := strings.Cut(r.Path, "/")
	for segment := range strings.SplitSeq(path, "/") {
		name, parameter := strings.CutPrefix(segment, "{")
		name, closed := strings.CutSuffix(name, "}")
		if root != "" || name == "" || parameter != closed || strings.ContainsFunc(name, notOfTemplate) {
			v.fault("path", "must be like /accounts/{id}/expiry: letters, '-' and '_'; IDs are in path_values")
			return nil, false
		}
		if parameter {
			names++
			segment = r.PathValues[name]
			if !ascii.IsName(segment) || strings.Trim(segment, ".") == "" { // each of these characters has only one meaning
				v.fault("path_values."+name, "must be letters, digits, '.', '-' or '_'")
			}
		}
		segments = append(segments, segment)
	}
	if len(r.PathValues) != names {
		v.fault("path_values", "must have each name of path, and no other")
	}
	if len(v.faults) > 0 {
		return nil, true
	}
	return segments, true
}

// notOfTemplate reports whether a template cannot contain r. Digits belong to IDs.
func notOfTemplate(r rune) bool {
	return !ascii.IsLower(r) && !ascii.IsUpper(r) && r != '-' && r != '_'
}

// plainSegment returns a segment as a careless router reads it: in lower case, without an ending such as .json.
func plainSegment(segment string) string {
	plain, _, _ := strings.Cut(strings.ToLower(segment), ".")
	return plain
}

// callable returns the operation of the reference with the method and template of r, if Do may call it: no operation of that path can move
// money.
func (r *RawRequest) callable(known []*operation) *operation {
	var found *operation
	for _, op := range known {
		if op.Path != r.Path || op.lane != ratelimit.Call || op.modelsFailure {
			return nil
		}
		if op.Method == r.Method {
			found = op
		}
	}
	return found
}

// operationsAt returns the operations at a path.
func operationsAt(segments []string) []*operation {
	var found []*operation
	for _, op := range allOperations() {
		template := strings.Split(op.Path, "/")[1:]
		if slices.EqualFunc(template, segments, func(of, segment string) bool {
			return of[0] == '{' || of == plainSegment(segment)
		}) {
			found = append(found, op)
		}
	}
	return found
}

// encode returns the JSON of the body. In a change of a PIN, the members of an envelope are next to the others.
func (r *RawRequest) encode(v *validator, op *operation) []byte {
	body, err := encodeAny(r.Body, op)
	switch {
	case r.Method == http.MethodGet:
		v.fault("body", "must be nil with GET")
	case err != nil, body[0] != '{' && body[0] != '[':
		v.fault("body", "must be a JSON object or array of values that can be sent")
	case op.Name == opPINValidate.Name, op.Name == opPINExecute.Name:
		if envelope := membersOf(body)["envelope"]; envelope.Kind() == jsontext.KindBeginObject && len(envelope) > len("{}") {
			body = bytes.Replace(body, slices.Concat([]byte(`"envelope":`), envelope), envelope[1:len(envelope)-1], 1)
		}
	}
	return body
}

// encodeAny returns the JSON of a caller's value for an operation.
func encodeAny(body any, op *operation) ([]byte, error) {
	if value := reflect.ValueOf(body); value.Kind() == reflect.Pointer && value.IsNil() {
		return nil, errNull
	}
	if payment, ok := body.(wireWritable); ok && isOurs(reflect.Indirect(reflect.ValueOf(body)).Type()) { // without LastSent
		var w wire.Writer
		payment.writeWire(&w)
		return w.Body, w.Err
	}
	if own := reflect.Indirect(reflect.ValueOf(body)); own.Kind() == reflect.Struct {
		if field, ok := own.Type().FieldByName("UnlistedMembers"); ok && len(field.Index) > 1 {
			if unlisted, err := own.FieldByIndexErr(field.Index); err == nil && !unlisted.IsZero() { // it would be sent under this name
				return nil, errUnlisted
			}
		}
	}
	options := encodeOptions
	if slices.Contains([]string{opPolicyChangeCategories.Name, opPolicyChangeMerchants.Name, opPolicyChangeTerminals.Name}, op.Name) {
		options = changeOptions()
	}
	return encodeBody(body, options)
}

var errUnlisted = errors.New("an embedded value has unlisted members")
