package prepaid

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/wire"
)

// Sex is M or F.
type Sex string

const (
	// SexMale is M.
	SexMale Sex = "M"
	// SexFemale is F.
	SexFemale Sex = "F"
)

// Cardholder is the personal (registration) data of an account. The limits below apply to new values. A Cardholder that the client read,
// and each copy of it, also keeps the JSON that the service sent. An unchanged field, such as an expired passport or a date of birth with a
// time, is not checked and is sent back as received. json.Marshal writes only the values, without that time. In a Cardholder built from
// fields or from such JSON, all values are new. Members that the reference does not list are dropped.
type Cardholder struct {
	// Title is at most 50 characters.
	Title string `json:"title,omitzero" redact:"personal"`
	// FirstName is required, at most 50 characters.
	FirstName string `json:"first_name" redact:"personal"`
	// MiddleName is at most 50 characters.
	MiddleName string `json:"middle_name,omitzero" redact:"personal"`
	// LastName is required, at most 50 characters (section 8 limits all names).
	LastName string `json:"last_name" redact:"personal"`
	// PrimaryAddress is required, with state and country.
	PrimaryAddress Address `json:"primary_address" redact:"personal"`
	// AlternateAddress is optional.
	AlternateAddress *AlternateAddress `json:"alternate_address,omitzero" redact:"personal"`
	// Sex is optional (required by version 1.0 of the service).
	Sex Sex `json:"sex,omitzero" redact:"personal"`
	// MobileNumber is at most 50 characters. It is needed to reveal a PIN or to tokenise a card.
	MobileNumber string `json:"mobile_number,omitzero" redact:"personal"`
	// PhoneNumber is at most 50 characters.
	PhoneNumber string `json:"phone_number,omitzero" redact:"personal"`
	// DateOfBirth is required. If the service sends a date-time, DateOfBirth is the day as written; see [Date].
	DateOfBirth Date `json:"date_of_birth" redact:"personal"`
	// EmailAddress is optional (required by version 1.0 of the service). It is needed to reveal a PIN or to tokenise a card.
	EmailAddress string `json:"email_address,omitzero" redact:"personal"`
	// DriverLicenceNumber is at most 30 characters.
	DriverLicenceNumber string `json:"driver_licence_number,omitzero" redact:"personal"`
	// Passport is optional.
	Passport *Passport `json:"passport,omitzero" redact:"personal"`

	// received is the JSON object that the service sent, if the fields alone cannot reproduce it. It is a string so that == works.
	received string
}

// check refuses missing and malformed members, except those that are unchanged since they were received.
func (c *Cardholder) check(v *validator, path string) {
	if c == nil {
		v.fault(path, ruleRequired)
		return
	}
	found := validator{lax: v.lax, isEmail: isEmail}
	c.checkMembers(&found)
	var now, was reflect.Value
	if c.received != "" && len(found.faults) > 0 {
		now, was = reflect.ValueOf(c).Elem(), reflect.ValueOf(c.asReceived()).Elem()
	}
	for _, fault := range found.faults {
		if !was.IsValid() || !unchanged(now, was, fault.Field) {
			v.fault(path+"."+fault.Field, fault.Rule)
		}
	}
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
	// Line1 is at most 50 characters.
	Line1 string `json:"address_line1,omitzero" redact:"personal"`
	// Line2 is at most 50 characters.
	Line2 string `json:"address_line2,omitzero" redact:"personal"`
	// Line3 is at most 50 characters.
	Line3 string `json:"address_line3,omitzero" redact:"personal"`
	// City is the city or suburb, at most 50 characters.
	City string `json:"city,omitzero" redact:"personal"`
	// State is required, at most 6 characters.
	State string `json:"state" redact:"personal"`
	// Country is required: ISO 3166 alpha-2, such as AU.
	Country string `json:"country" redact:"personal"`
	// Postcode is at most 30 letters and digits.
	Postcode string `json:"postcode,omitzero" redact:"personal"`
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
	// Line1 is at most 50 characters.
	Line1 string `json:"address_line1,omitzero" redact:"personal"`
	// Line2 is at most 50 characters.
	Line2 string `json:"address_line2,omitzero" redact:"personal"`
	// City is the city or suburb, at most 50 characters.
	City string `json:"city,omitzero" redact:"personal"`
	// State is at most 6 characters.
	State string `json:"state,omitzero" redact:"personal"`
	// Country is ISO 3166 alpha-2.
	Country string `json:"country,omitzero" redact:"personal"`
	// Postcode is at most 30 letters and digits.
	Postcode string `json:"postcode,omitzero" redact:"personal"`
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
	// Number is at most 10 characters.
	Number string `json:"passport_number" redact:"personal"`
	// Expiry is later than today (UTC).
	Expiry Date `json:"passport_expiry" redact:"personal"`
	// IssuingCountry is ISO 3166 alpha-3, such as AUS. In an address, a country has two letters.
	IssuingCountry string `json:"passport_issuing_country" redact:"personal"`
}

func (p Passport) check(v *validator) {
	v.requiredText("passport.passport_number", p.Number, 10)
	v.futureDate("passport.passport_expiry", p.Expiry)
	v.requiredText("passport.passport_issuing_country", p.IssuingCountry, 0)
	v.countryAlpha3("passport.passport_issuing_country", p.IssuingCountry)
}

// FreeText is the program's own data; the service sends all fields together.
type FreeText struct {
	// Text1 is the program's own text.
	Text1 string `json:"free_text1" redact:"content"`
	// Text2 is the program's own text.
	Text2 string `json:"free_text2" redact:"content"`
	// Text3 is the program's own text.
	Text3 string `json:"free_text3" redact:"content"`
	// Text4 is the program's own text.
	Text4 string `json:"free_text4" redact:"content"`
	// Text5 is the program's own text.
	Text5 string `json:"free_text5" redact:"content"`
	// Text6 is the program's own text.
	Text6 string `json:"free_text6" redact:"content"`
	// Text7 is the program's own text.
	Text7 string `json:"free_text7" redact:"content"`
	// Text8 is the program's own text.
	Text8 string `json:"free_text8" redact:"content"`
	// Int1 is a whole number, as text.
	Int1 string `json:"free_int1" redact:"content"`
	// Int2 is a whole number, as text.
	Int2 string `json:"free_int2" redact:"content"`
	// Dec1 is a decimal number, as text.
	Dec1 string `json:"free_dec1" redact:"content"`
	// Dec2 is a decimal number, as text.
	Dec2 string `json:"free_dec2" redact:"content"`
}

// PortalIdentifier names a cardholder in the portal. All fields are required.
type PortalIdentifier struct {
	// ClientID is the portal's client.
	ClientID string `json:"client_id"`
	// ProgramID is the portal's program.
	ProgramID string `json:"program_id"`
	// CardholderID is the portal's cardholder.
	CardholderID string `json:"cardholder_id"`
}

func (p *PortalIdentifier) check(v *validator, path string) {
	if p == nil {
		return
	}
	v.requiredText(path+".client_id", p.ClientID, 0)
	v.requiredText(path+".program_id", p.ProgramID, 0)
	v.requiredText(path+".cardholder_id", p.CardholderID, 0)
}

// Everything the service holds can be sent back, including values that it would refuse today or that this package would
// write differently. A Cardholder with such a value therefore keeps the JSON object it was read from. Unchanged members
// are then not checked, and are written as received.

// passportHorizon is how long a Cardholder can be sent after it was read, even if its passport expires.
const passportHorizon = 366 * 24 * time.Hour

// plainCardholder is a Cardholder without the methods that keep and write received JSON.
type plainCardholder Cardholder

// retain keeps raw, the JSON that c was read from, if the client would refuse the values of c as new ones, or would write them
// differently. exact means that the client would write them in the same way.
func (c *Cardholder) retain(raw []byte, exact bool) {
	var v validator
	c.checkMembers(&v)
	expires := c.Passport != nil && !c.Passport.Expiry.Time(time.UTC).After(time.Now().Add(passportHorizon))
	if c.received = ""; !exact || len(v.faults) > 0 || expires {
		c.received = string([]rune(string(raw))) // with U+FFFD for invalid UTF-8, as in the values
	}
}

// exact reports whether c is written in the same way with the received members and without them.
func (c *Cardholder) exact() bool {
	unchanged, err := json.Marshal(c, encodeOptions)
	fresh, errFresh := json.Marshal((*plainCardholder)(c), encodeOptions)
	return errors.Join(err, errFresh, (*jsontext.Value)(&unchanged).Canonicalize(), (*jsontext.Value)(&fresh).Canonicalize()) == nil &&
		bytes.Equal(unchanged, fresh)
}

// asReceived returns c as it was read.
func (c *Cardholder) asReceived() *Cardholder {
	was := &Cardholder{}
	// The text was read before, with the same options.
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
	*c = Cardholder{} // the member may be repeated
	if err := json.Unmarshal(raw, (*plainCardholder)(c), d.Options()); err != nil {
		if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
			semantic.ByteOffset += start
		}
		return err
	}
	c.retain(raw, false)
	c.retain(raw, c.exact())
	return nil
}

// encode writes a Cardholder, each unchanged member as it was received.
func (c *Cardholder) encode(e *jsontext.Encoder) error {
	if c.received == "" {
		return json.MarshalEncode(e, (*plainCardholder)(c))
	}
	return writeUnchanged(e, reflect.ValueOf(c).Elem(), reflect.ValueOf(c.asReceived()).Elem(), jsontext.Value(c.received))
}

// writeUnchanged writes a struct (now). Members that are equal in an older struct (was) are written as in received, the JSON of
// the older struct.
func writeUnchanged(e *jsontext.Encoder, now, was reflect.Value, received jsontext.Value) error {
	members := membersOf(received)
	err := e.WriteToken(jsontext.BeginObject)
	for field, content := range now.Fields() {
		name, optional := jsonName(field)
		if name == "" {
			continue
		}
		old := was.FieldByIndex(field.Index)
		raw, present := members[name]
		same := reflect.DeepEqual(content.Interface(), old.Interface())
		switch inner, before := reflect.Indirect(content), reflect.Indirect(old); {
		case present && raw.Kind() == jsontext.KindBeginObject && inner.IsValid() && before.IsValid():
			err = errors.Join(err, e.WriteToken(jsontext.String(name)), writeUnchanged(e, inner, before, raw))
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

// jsonName returns the JSON name of a field, or "", and whether the member is omitted when zero.
func jsonName(field reflect.StructField) (name string, optional bool) {
	if !field.IsExported() {
		return "", false
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name, options == "omitzero"
}

// membersOf returns the members of a JSON object. If a name is repeated, the last value counts.
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

// readWire reads a registration and retains its JSON where needed.
func (c *Cardholder) readWire(r *wire.Reader) {
	r.Record(receivedCardholder{c}, (*plainCardholder)(c).readWire)
}

// receivedCardholder retains the JSON that a registration was read from.
type receivedCardholder struct{ *Cardholder }

func (c receivedCardholder) Record(raw []byte, exact bool) { c.retain(raw, exact) }
