package prepaid

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What the service holds must be possible to put back, also what it would refuse today and what this package would
// write in another way. So a Cardholder that was read keeps the JSON object it came in when there is such a value in
// it; members that still have the value that was read are then not checked, and are written as they came.

// passportHorizon is how long after it was read a Cardholder may be put back with a passport that has expired since.
const passportHorizon = 366 * 24 * time.Hour

// plainCardholder is read without regard to what was received.
type plainCardholder Cardholder

// keep sets what was received, raw, if the values of c as new ones would be refused or written differently. exact
// says that the latter is not so.
func (c *Cardholder) keep(raw []byte, exact bool) {
	var v validator
	c.checkMembers(&v)
	expires := c.Passport != nil && !c.Passport.Expiry.Time(time.UTC).After(time.Now().Add(passportHorizon))
	if c.received = ""; !exact || len(v.faults) > 0 || expires {
		c.received = string([]rune(string(raw))) // with U+FFFD for each byte that is not UTF-8, as the values have
	}
}

// asReceived is c as it was read.
func (c *Cardholder) asReceived() *Cardholder {
	was := &Cardholder{}
	// It was read from this text before, with the same options.
	_ = json.Unmarshal([]byte(c.received), (*plainCardholder)(was), callerOptions)
	return was
}

// decode reads a Cardholder that the service sent.
func (c *Cardholder) decode(d *jsontext.Decoder) error {
	start := d.InputOffset()
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	*c = Cardholder{} // the member may have come before
	if readItem(raw, c) {
		return nil
	}
	*c = Cardholder{}
	if err := json.Unmarshal(raw, (*plainCardholder)(c), d.Options()); err != nil {
		if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
			semantic.ByteOffset += start
		}
		return err
	}
	c.keep(raw, false)
	return nil
}

// encode writes a Cardholder, each unchanged member as it was received.
func (c *Cardholder) encode(e *jsontext.Encoder) error {
	if c.received == "" {
		return json.MarshalEncode(e, (*plainCardholder)(c)) // nothing is special about it
	}
	return putBack(e, reflect.ValueOf(c).Elem(), reflect.ValueOf(c.asReceived()).Elem(), jsontext.Value(c.received))
}

// putBack writes the struct now, which was read as was from the object received.
func putBack(e *jsontext.Encoder, now, was reflect.Value, received jsontext.Value) error {
	came := membersOf(received)
	err := e.WriteToken(jsontext.BeginObject)
	for field, content := range now.Fields() {
		name, optional := jsonName(field)
		if name == "" {
			continue
		}
		old := was.FieldByIndex(field.Index)
		raw, present := came[name]
		same := reflect.DeepEqual(content.Interface(), old.Interface())
		switch inner, before := reflect.Indirect(content), reflect.Indirect(old); {
		case present && raw.Kind() == jsontext.KindBeginObject && inner.IsValid() && before.IsValid():
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), putBack(e, inner, before, raw))
		case optional && content.IsZero() && (!same || !present || raw.Kind() == jsontext.KindNull):
		case same && !present && content.IsZero():
		case same && present && raw.IsValid():
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), e.WriteValue(raw))
		default:
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), json.MarshalEncode(e, content.Interface()))
		}
	}
	return errors.Join(err, e.WriteToken(jsontext.EndObject))
}

// unchanged reports whether the member at a path such as "passport.passport_expiry" is the same in both structs.
func unchanged(now, was reflect.Value, path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	for field, content := range now.Fields() {
		if member, _ := jsonName(field); member != name {
			continue
		}
		old := was.FieldByIndex(field.Index)
		if !nested {
			return reflect.DeepEqual(content.Interface(), old.Interface())
		}
		content, old = reflect.Indirect(content), reflect.Indirect(old)
		return content.IsValid() && old.IsValid() && unchanged(content, old, rest)
	}
	return false
}

// jsonName is the name of a field's member, empty for none, and whether the member is left out when it is zero.
func jsonName(field reflect.StructField) (name string, optional bool) {
	if !field.IsExported() {
		return "", false
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name, options == "omitzero"
}

// membersOf returns the members of a JSON object; of two with one name the last counts.
func membersOf(object jsontext.Value) map[string]jsontext.Value {
	members := map[string]jsontext.Value{}
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = d.ReadToken()
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		members[key] = value.Clone()
	}
	return members
}
