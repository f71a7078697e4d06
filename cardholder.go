package prepaid

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Sex is M or F.
type Sex string

const (
	SexMale   Sex = "M"
	SexFemale Sex = "F"
)

// Cardholder is the personal (registration) data of an account. The limits below apply to new values. A Cardholder that the client read,
// and each copy of it, also keeps the JSON that the service sent. An unchanged field, such as an expired passport, a date of birth with a
// time or a name that is not Unicode, is not checked and is sent back as received. json.Marshal writes only the values, without that time
// and with U+FFFD in that name. In a Cardholder built from fields or such JSON, all values are new and U+FFFD is refused.
type Cardholder struct {
	Title      string `json:"title,omitzero" redact:"personal"`       // at most 50 characters
	FirstName  string `json:"first_name" redact:"personal"`           // required, at most 50 characters
	MiddleName string `json:"middle_name,omitzero" redact:"personal"` // at most 50 characters
	// LastName is required, at most 50 characters (section 8 limits all names).
	LastName         string            `json:"last_name" redact:"personal"`
	PrimaryAddress   Address           `json:"primary_address" redact:"personal"`            // required, with state and country
	AlternateAddress *AlternateAddress `json:"alternate_address,omitzero" redact:"personal"` // optional
	// Sex is optional (required by version 1.0 of the service).
	Sex          Sex    `json:"sex,omitzero" redact:"personal"`
	MobileNumber string `json:"mobile_number,omitzero" redact:"personal"` // at most 50 characters; needed to reveal a PIN or tokenise a card
	PhoneNumber  string `json:"phone_number,omitzero" redact:"personal"`  // at most 50 characters
	DateOfBirth  Date   `json:"date_of_birth" redact:"personal"`          // required; of a date-time, the day as written; see [Date]
	// EmailAddress is optional (required by version 1.0 of the service). It is needed to reveal a PIN or to tokenise a card.
	EmailAddress        string    `json:"email_address,omitzero" redact:"personal"`
	DriverLicenceNumber string    `json:"driver_licence_number,omitzero" redact:"personal"` // at most 30 characters
	Passport            *Passport `json:"passport,omitzero" redact:"personal"`              // optional
	// UnlistedMembers is a JSON object of members that the reference does not list, as received; "" for none. Update sends them, so an
	// account keeps them. To add, change or remove a member, edit the object: {"tier":2,"passport":{"issued":"2020"}} has one member of the
	// registration, and one of its passport, which is sent if Passport is set. Listed members are refused.
	UnlistedMembers string `json:"unlisted_members,omitzero" wire:"-" redact:"personal"`

	received string // the JSON object that the service sent, if the fields alone cannot reproduce it; it is a string so that == works
}

// Equal reports whether the fields are equal, for libraries that look for this method. The JSON that the service sent does not count.
func (c Cardholder) Equal(other Cardholder) bool {
	other.received = c.received
	return reflect.DeepEqual(c, other)
}

func (c *Cardholder) kept() (received, unlisted *string) { return &c.received, &c.UnlistedMembers }

// check refuses missing and malformed members, except those that are unchanged since they were received.
func (c *Cardholder) check(v *validator, path string) {
	if c == nil {
		v.fault(path, ruleRequired)
		return
	}
	checkKept(v, path, c)
}

func (c *Cardholder) checkMembers(v *validator) {
	v.text("title", c.Title, 50)
	v.requiredText("first_name", c.FirstName, 50)
	v.text("middle_name", c.MiddleName, 50)
	v.requiredText("last_name", c.LastName, 50)
	c.PrimaryAddress.check(v)
	if c.AlternateAddress != nil {
		c.AlternateAddress.check(v)
	}
	v.oneOf("sex", string(c.Sex), c.Sex.values())
	v.text("mobile_number", c.MobileNumber, 50)
	v.text("phone_number", c.PhoneNumber, 50)
	v.date("date_of_birth", c.DateOfBirth)
	v.email("email_address", c.EmailAddress)
	v.text("driver_licence_number", c.DriverLicenceNumber, 30)
	if c.Passport != nil {
		c.Passport.check(v)
	}
}

// Address is a primary address (reference section 2.4).
type Address struct {
	Line1    string `json:"address_line1,omitzero" redact:"personal"` // at most 50 characters
	Line2    string `json:"address_line2,omitzero" redact:"personal"` // at most 50 characters
	Line3    string `json:"address_line3,omitzero" redact:"personal"` // at most 50 characters
	City     string `json:"city,omitzero" redact:"personal"`          // the city or suburb, at most 50 characters
	State    string `json:"state" redact:"personal"`                  // required, at most 6 characters
	Country  string `json:"country" redact:"personal"`                // required: ISO 3166 alpha-2, such as AU
	Postcode string `json:"postcode,omitzero" redact:"personal"`      // at most 30 letters and digits
}

func (a *Address) check(v *validator) {
	v.text("primary_address.address_line1", a.Line1, 50)
	v.text("primary_address.address_line2", a.Line2, 50)
	v.text("primary_address.address_line3", a.Line3, 50)
	v.text("primary_address.city", a.City, 50)
	v.requiredText("primary_address.state", a.State, 6)
	v.requiredText("primary_address.country", a.Country, 0)
	v.countryAlpha2("primary_address.country", a.Country)
	v.postcode("primary_address.postcode", a.Postcode)
}

// AlternateAddress is an address without Line3; every field is optional.
type AlternateAddress struct {
	Line1    string `json:"address_line1,omitzero" redact:"personal"` // at most 50 characters
	Line2    string `json:"address_line2,omitzero" redact:"personal"` // at most 50 characters
	City     string `json:"city,omitzero" redact:"personal"`          // the city or suburb, at most 50 characters
	State    string `json:"state,omitzero" redact:"personal"`         // at most 6 characters
	Country  string `json:"country,omitzero" redact:"personal"`       // ISO 3166 alpha-2
	Postcode string `json:"postcode,omitzero" redact:"personal"`      // at most 30 letters and digits
}

func (a AlternateAddress) check(v *validator) {
	v.text("alternate_address.address_line1", a.Line1, 50)
	v.text("alternate_address.address_line2", a.Line2, 50)
	v.text("alternate_address.city", a.City, 50)
	v.text("alternate_address.state", a.State, 6)
	v.countryAlpha2("alternate_address.country", a.Country)
	v.postcode("alternate_address.postcode", a.Postcode)
}

// Passport is a cardholder's passport (section 2.5); all fields are required.
type Passport struct {
	Number         string `json:"passport_number" redact:"personal"`          // at most 10 characters
	Expiry         Date   `json:"passport_expiry" redact:"personal"`          // later than today (UTC)
	IssuingCountry string `json:"passport_issuing_country" redact:"personal"` // ISO 3166 alpha-3, such as AUS (in an address: alpha-2)
}

func (p Passport) check(v *validator) {
	v.requiredText("passport.passport_number", p.Number, 10)
	v.futureDate("passport.passport_expiry", p.Expiry)
	v.requiredText("passport.passport_issuing_country", p.IssuingCountry, 0)
	v.countryAlpha3("passport.passport_issuing_country", p.IssuingCountry)
}

// Everything the service holds can be sent back, including values that it would refuse today or that this package would
// write differently. A value of a keeper with such a member therefore keeps the JSON object it was read from. Unchanged members
// are then not checked, and are written as received.

// keeper is a type whose values can be sent back as they were received.
type keeper interface {
	// kept returns the fields for the received object and for its unlisted members.
	kept() (received, unlisted *string)
	checkMembers(v *validator)
}

// passportHorizon is how long a Cardholder can be sent after it was read, even if its passport expires.
const passportHorizon = 366 * 24 * time.Hour

// receivedOptions keep the text of received JSON when it is sent back, even if it is not Unicode.
var receivedOptions = json.JoinOptions(syntaxOptions, jsontext.PreserveRawStrings(true), json.Deterministic(true))

// encodeReceived returns the body of a request that may have a keeper.
func encodeReceived(params any) ([]byte, error) {
	return json.Marshal(params, encodeOptions, receivedOptions)
}

// checkKept refuses missing and malformed members, except those that are unchanged since they were received.
func checkKept(v *validator, path string, k keeper) {
	found := validator{lax: v.lax, isEmail: isEmail, whole: true}
	k.checkMembers(&found)
	received, unlisted := k.kept()
	now, was := reflect.ValueOf(k).Elem(), asReceived(k)
	for _, fault := range found.faults {
		if *received == "" || !unchanged(now, was, fault.Field) {
			v.fault(path+"."+fault.Field, fault.Rule)
		}
	}
	value, rest := jsontext.Value(*unlisted), unlistedIn([]byte(*unlisted), now.Type(), true)
	switch field := path + ".unlisted_members"; {
	case *unlisted == "", *unlisted == string(unlistedIn([]byte(*received), now.Type(), false)):
	case strings.ContainsRune(*unlisted, utf8.RuneError):
		v.fault(field, ruleWhole)
	case errors.Join(value.Canonicalize(syntaxOptions), rest.Canonicalize(syntaxOptions)) != nil || !bytes.Equal(value, rest):
		v.fault(field, "must be a JSON object of members that the reference does not list")
	}
}

// retain keeps raw, the JSON that a keeper was read from, if the client would refuse its values as new ones, or would write them
// differently. exact means that the client would write them in the same way.
func retain(value any, raw []byte, exact bool) {
	v := validator{whole: true, horizon: passportHorizon}
	switch k := value.(type) { // a call of the interface would allocate v
	case *Cardholder:
		k.checkMembers(&v)
	case *PortalIdentifier:
		k.checkMembers(&v)
	}
	if received, unlisted := value.(keeper).kept(); !exact || len(v.faults) > 0 || *unlisted != "" {
		*received = string(raw)
	}
}

// exact reports whether k is written in the same way with the received members and without them.
func exact(k keeper, raw []byte) bool {
	received, _ := k.kept()
	fresh, errFresh := json.Marshal(k, encodeOptions)
	*received = string(raw)
	unchanged, err := encodeReceived(k)
	*received = ""
	return errors.Join(err, errFresh, (*jsontext.Value)(&unchanged).Canonicalize(), (*jsontext.Value)(&fresh).Canonicalize()) == nil &&
		bytes.Equal(unchanged, fresh)
}

// asReceived returns the struct of k as it was read; zero if k was not read or can be reproduced from its fields.
func asReceived(k keeper) reflect.Value {
	was := reflect.New(reflect.TypeOf(k).Elem())
	if received, _ := k.kept(); *received != "" {
		_ = json.Unmarshal([]byte(*received), was.Interface(), plainOptions) // read before, with the same options
	}
	return was.Elem()
}

// keep records raw, the JSON that k was read from, where needed.
func keep(k keeper, raw jsontext.Value) {
	received, unlisted := k.kept()
	*received, *unlisted = "", string(unlistedIn(raw, reflect.TypeOf(k).Elem(), false))
	retain(k, raw, exact(k, raw))
}

func encodeKeeper(e *jsontext.Encoder, k keeper) error {
	received, unlisted := k.kept()
	return writeUnchanged(e, reflect.ValueOf(k).Elem(), asReceived(k), jsontext.Value(*received), jsontext.Value(*unlisted))
}

// writeUnchanged writes a struct (now) and its unlisted members. Members that are equal in an older struct (was) are written as in
// received, the JSON of the older struct, if any.
func writeUnchanged(e *jsontext.Encoder, now, was reflect.Value, received, unlisted jsontext.Value) error {
	members, more := membersOf(received), membersOf(unlisted)
	err := e.WriteToken(jsontext.BeginObject)
	for field, content := range now.Fields() {
		name, optional := jsonName(field)
		if name == "" {
			continue
		}
		old := was.FieldByIndex(field.Index)
		raw, present := members[name]
		extra := more[name]
		delete(more, name)
		same := len(received) > 0 && reflect.DeepEqual(content.Interface(), old.Interface())
		inner, before := reflect.Indirect(content), reflect.Indirect(old)
		nested := raw.Kind() == jsontext.KindBeginObject && before.IsValid()
		switch {
		case inner.IsValid() && hasMembers(inner.Type()) && (nested || extra != nil):
			if !nested {
				before, raw = reflect.Zero(inner.Type()), nil
			}
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), writeUnchanged(e, inner, before, raw, extra))
		case optional && content.IsZero() && (!same || !present || raw.Kind() == jsontext.KindNull):
		case same && !present && content.IsZero():
		case same && present && raw.IsValid(syntaxOptions):
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), e.WriteValue(raw))
		default:
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), json.MarshalEncode(e, content.Interface()))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		err = errors.Join(err, e.WriteToken(jsontext.String(name)), e.WriteValue(more[name]))
	}
	return errors.Join(err, e.WriteToken(jsontext.EndObject))
}

// hasMembers reports whether values of a type are JSON objects.
func hasMembers(of reflect.Type) bool {
	return of.Kind() == reflect.Struct && of != reflect.TypeFor[Date]()
}

// unlistedIn returns an object of the members of object that the struct type does not have, those of nested objects included; nil
// without any.
func unlistedIn(object jsontext.Value, of reflect.Type, careless bool) jsontext.Value {
	members := membersOf(object)
	for field := range of.Fields() {
		name, _ := jsonName(field)
		raw, present := members[name]
		if name == "" {
			continue
		}
		maps.DeleteFunc(members, func(member string, _ jsontext.Value) bool {
			return member == name || careless && plainName(member) == plainName(name)
		})
		if !present {
			continue
		}
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if hasMembers(inner) {
			if rest := unlistedIn(raw, inner, careless); rest != nil {
				members[name] = rest
			}
		}
	}
	if len(members) == 0 {
		return nil
	}
	rest, _ := json.Marshal(members, receivedOptions) // of values that were read
	return rest
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

// jsonName returns the JSON name of a field, or "", and whether the member is omitted when zero.
func jsonName(field reflect.StructField) (name string, optional bool) {
	if !field.IsExported() || field.Tag.Get("wire") == "-" {
		return "", false
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name, options == "omitzero"
}

// membersOf returns the members of a JSON object. If a name is repeated, the last value counts.
func membersOf(object jsontext.Value) (members map[string]jsontext.Value) {
	_ = json.Unmarshal(object, &members, syntaxOptions)
	return members
}
