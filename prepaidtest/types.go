package prepaidtest

import (
	"net/mail"
	"time"
)

// Personal is the registration of a cardholder (2.3), in wire words. Date-times have the form
// "1990-05-01T00:00:00Z".
type Personal struct {
	// Title is at most 50 characters.
	Title string `json:"title,omitzero"`
	// FirstName is at most 50 characters; required.
	FirstName string `json:"first_name"`
	// MiddleName is at most 50 characters.
	MiddleName string `json:"middle_name,omitzero"`
	// LastName is at most 50 characters; required.
	LastName string `json:"last_name"`
	// PrimaryAddress is required.
	PrimaryAddress Address `json:"primary_address"`
	// AlternateAddress is optional and has no third line.
	AlternateAddress *Address `json:"alternate_address,omitzero"`
	// Sex is M or F. A wallet needs it.
	Sex string `json:"sex,omitzero"`
	// MobileNumber is at most 50 characters. A wallet and a PIN need it.
	MobileNumber string `json:"mobile_number,omitzero"`
	// PhoneNumber is at most 50 characters.
	PhoneNumber string `json:"phone_number,omitzero"`
	// DateOfBirth is a date-time; required.
	DateOfBirth string `json:"date_of_birth"`
	// EmailAddress has the form of an e-mail address. A wallet and a PIN need it.
	EmailAddress string `json:"email_address,omitzero"`
	// DriverLicenceNumber is at most 30 characters.
	DriverLicenceNumber string `json:"driver_licence_number,omitzero"`
	// Passport is optional.
	Passport *Passport `json:"passport,omitzero"`
}

// Address is a primary or alternate address (2.4).
type Address struct {
	// Line1 is at most 50 characters.
	Line1 string `json:"address_line1,omitzero"`
	// Line2 is at most 50 characters.
	Line2 string `json:"address_line2,omitzero"`
	// Line3 is at most 50 characters; primary address only.
	Line3 string `json:"address_line3,omitzero"`
	// City is the city or suburb, at most 50 characters.
	City string `json:"city,omitzero"`
	// State is at most 6 characters; required in a primary address.
	State string `json:"state,omitzero"`
	// Country is ISO 3166 alpha-2; required in a primary address.
	Country string `json:"country,omitzero"`
	// Postcode is alphanumeric, at most 30 characters.
	Postcode string `json:"postcode,omitzero"`
}

// Passport has three required fields (2.5).
type Passport struct {
	// Number is at most 10 characters.
	Number string `json:"passport_number"`
	// Expiry is a date-time later than the current time.
	Expiry string `json:"passport_expiry"`
	// IssuingCountry is ISO 3166 alpha-3.
	IssuingCountry string `json:"passport_issuing_country"`
}

// FreeText is a program's own data (2.6). An account without any answers with empty strings.
type FreeText struct {
	// Text1 is the program's own text.
	Text1 string `json:"free_text1"`
	// Text2 is the program's own text.
	Text2 string `json:"free_text2"`
	// Text3 is the program's own text.
	Text3 string `json:"free_text3"`
	// Text4 is the program's own text.
	Text4 string `json:"free_text4"`
	// Text5 is the program's own text.
	Text5 string `json:"free_text5"`
	// Text6 is the program's own text.
	Text6 string `json:"free_text6"`
	// Text7 is the program's own text.
	Text7 string `json:"free_text7"`
	// Text8 is the program's own text.
	Text8 string `json:"free_text8"`
	// Int1 is a whole number as a string.
	Int1 string `json:"free_int1"`
	// Int2 is a whole number as a string.
	Int2 string `json:"free_int2"`
	// Dec1 is a decimal number as a string.
	Dec1 string `json:"free_dec1"`
	// Dec2 is a decimal number as a string.
	Dec2 string `json:"free_dec2"`
}

// PortalIdentifier names a cardholder in the portal (2.7). All three fields are required.
type PortalIdentifier struct {
	// ClientID is the portal's client.
	ClientID string `json:"client_id"`
	// ProgramID is the portal's program.
	ProgramID string `json:"program_id"`
	// CardholderID is the portal's cardholder.
	CardholderID string `json:"cardholder_id"`
}

func (p *Personal) bind(b *binder) {
	b.string("title", &p.Title).max(50)
	b.string("first_name", &p.FirstName).required().max(50)
	b.string("middle_name", &p.MiddleName).max(50)
	b.string("last_name", &p.LastName).required().max(50)
	b.object("primary_address", func(b *binder) { p.PrimaryAddress.bind(b, true) }).required()
	alternate := new(Address)
	if b.object("alternate_address", func(b *binder) { alternate.bind(b, false) }).usable {
		p.AlternateAddress = alternate
	}
	b.string("sex", &p.Sex).oneOf("M", "F")
	b.string("mobile_number", &p.MobileNumber).max(50)
	b.string("phone_number", &p.PhoneNumber).max(50)
	var at time.Time
	if b.dateTime("date_of_birth", &at).required().usable {
		p.DateOfBirth = stamp(at).String()
	}
	b.string("email_address", &p.EmailAddress).form(isEmail, "must be an e-mail address")
	b.string("driver_licence_number", &p.DriverLicenceNumber).max(30)
	passport := new(Passport)
	if b.object("passport", passport.bind).usable {
		p.Passport = passport
	}
}

func (a *Address) bind(b *binder, primary bool) {
	b.string("address_line1", &a.Line1).max(50)
	b.string("address_line2", &a.Line2).max(50)
	if primary {
		b.string("address_line3", &a.Line3).max(50)
	}
	b.string("city", &a.City).max(50)
	state := b.string("state", &a.State).max(6)
	country := b.string("country", &a.Country).form(letters(2), "must be an ISO 3166 alpha-2 code")
	if primary {
		state.required()
		country.required()
	}
	b.string("postcode", &a.Postcode).max(30).form(isAlphanumeric, "must be alphanumeric")
}

func (p *Passport) bind(b *binder) {
	b.string("passport_number", &p.Number).required().max(10)
	var at time.Time
	expiry := b.dateTime("passport_expiry", &at).required()
	if expiry.limit(at.After(b.now), "must be later than the current time").usable {
		p.Expiry = stamp(at).String()
	}
	b.string("passport_issuing_country", &p.IssuingCountry).required().form(letters(3), "must be an ISO 3166 alpha-3 code")
}

func (p *PortalIdentifier) bind(b *binder) {
	b.string("client_id", &p.ClientID).required()
	b.string("program_id", &p.ProgramID).required()
	b.string("cardholder_id", &p.CardholderID).required()
}

func isEmail(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text
}

func letters(n int) func(string) bool {
	return func(text string) bool {
		for _, c := range []byte(text) {
			if c < 'A' || c > 'Z' {
				return false
			}
		}
		return len(text) == n
	}
}

func isAlphanumeric(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// isPrintableASCII holds for 0x20 to 0x7E.
func isPrintableASCII(text string) bool {
	for _, c := range []byte(text) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

func isNameOnCard(text string) bool {
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && c != '-' && c != '/' && c != '.' {
			return false
		}
	}
	return true
}
