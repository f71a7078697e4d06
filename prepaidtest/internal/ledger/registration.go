package ledger

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// The types of a registration, and WalletToken, are declared again in package prepaidtest, for partners: convert.go there
// explains why.

// Personal is the registration of a cardholder (2.3), in wire words. Date-times have the form
// "1990-05-01T00:00:00Z".
type Personal struct {
	Title               string    `json:"title,omitzero"`
	FirstName           string    `json:"first_name"`
	MiddleName          string    `json:"middle_name,omitzero"`
	LastName            string    `json:"last_name"`
	PrimaryAddress      Address   `json:"primary_address"`
	AlternateAddress    *Address  `json:"alternate_address,omitzero"`
	Sex                 string    `json:"sex,omitzero"`
	MobileNumber        string    `json:"mobile_number,omitzero"`
	PhoneNumber         string    `json:"phone_number,omitzero"`
	DateOfBirth         string    `json:"date_of_birth"`
	EmailAddress        string    `json:"email_address,omitzero"`
	DriverLicenceNumber string    `json:"driver_licence_number,omitzero"`
	Passport            *Passport `json:"passport,omitzero"`
}

// Address is a primary or alternate address (2.4).
type Address struct {
	Line1    string `json:"address_line1,omitzero"`
	Line2    string `json:"address_line2,omitzero"`
	Line3    string `json:"address_line3,omitzero"`
	City     string `json:"city,omitzero"`
	State    string `json:"state,omitzero"`
	Country  string `json:"country,omitzero"`
	Postcode string `json:"postcode,omitzero"`
}

// Passport has three required fields (2.5).
type Passport struct {
	Number         string `json:"passport_number"`
	Expiry         string `json:"passport_expiry"`
	IssuingCountry string `json:"passport_issuing_country"`
}

// FreeText is a program's own data (2.6). An account without any shows empty strings.
type FreeText struct {
	Text1 string `json:"free_text1"`
	Text2 string `json:"free_text2"`
	Text3 string `json:"free_text3"`
	Text4 string `json:"free_text4"`
	Text5 string `json:"free_text5"`
	Text6 string `json:"free_text6"`
	Text7 string `json:"free_text7"`
	Text8 string `json:"free_text8"`
	Int1  string `json:"free_int1"`
	Int2  string `json:"free_int2"`
	Dec1  string `json:"free_dec1"`
	Dec2  string `json:"free_dec2"`
}

// Portal names a cardholder in the portal (2.7). All three fields are required.
type Portal struct {
	ClientID     string `json:"client_id"`
	ProgramID    string `json:"program_id"`
	CardholderID string `json:"cardholder_id"`
}

// Bind reads a registration.
func (p *Personal) Bind(b *wire.Reader) {
	b.String("title", &p.Title).Max(50)
	b.String("first_name", &p.FirstName).Required().Filled().Max(50)
	b.String("middle_name", &p.MiddleName).Max(50)
	b.String("last_name", &p.LastName).Required().Filled().Max(50)
	b.Object("primary_address", func(b *wire.Reader) { p.PrimaryAddress.bind(b, true) }).Required()
	alternate := new(Address)
	if b.Object("alternate_address", func(b *wire.Reader) { alternate.bind(b, false) }).Usable {
		p.AlternateAddress = alternate
	}
	b.String("sex", &p.Sex).OneOf("M", "F")
	b.String("mobile_number", &p.MobileNumber).Max(50)
	b.String("phone_number", &p.PhoneNumber).Max(50)
	var at time.Time
	if b.DateTime("date_of_birth", &at).Required().Usable {
		p.DateOfBirth = wire.DateTime(at).String()
	}
	b.String("email_address", &p.EmailAddress).Form(wire.Email())
	b.String("driver_licence_number", &p.DriverLicenceNumber).Max(30)
	passport := new(Passport)
	if b.Object("passport", passport.bind).Usable {
		p.Passport = passport
	}
}

func (a *Address) bind(b *wire.Reader, primary bool) {
	b.String("address_line1", &a.Line1).Max(50)
	b.String("address_line2", &a.Line2).Max(50)
	if primary {
		b.String("address_line3", &a.Line3).Max(50)
	}
	b.String("city", &a.City).Max(50)
	state := b.String("state", &a.State).Max(6)
	country := b.String("country", &a.Country).Form(wire.Country2())
	if primary {
		state.Required().Filled()
		country.Required()
	}
	b.String("postcode", &a.Postcode).Max(30).Form(wire.Alphanumeric())
}

func (p *Passport) bind(b *wire.Reader) {
	b.String("passport_number", &p.Number).Required().Max(10)
	var at time.Time
	expiry := b.DateTime("passport_expiry", &at).Required()
	if expiry.Limit(at.After(b.Now), "must be later than the current time").Usable {
		p.Expiry = wire.DateTime(at).String()
	}
	b.String("passport_issuing_country", &p.IssuingCountry).Required().Form(wire.Country3())
}

// Bind reads a portal identifier.
func (p *Portal) Bind(b *wire.Reader) {
	b.String("client_id", &p.ClientID).Required()
	b.String("program_id", &p.ProgramID).Required()
	b.String("cardholder_id", &p.CardholderID).Required()
}

// Bind reads free text. What is left out is empty, since all twelve are shown.
func (f *FreeText) Bind(b *wire.Reader) {
	b.String("free_text1", &f.Text1)
	b.String("free_text2", &f.Text2)
	b.String("free_text3", &f.Text3)
	b.String("free_text4", &f.Text4)
	b.String("free_text5", &f.Text5)
	b.String("free_text6", &f.Text6)
	b.String("free_text7", &f.Text7)
	b.String("free_text8", &f.Text8)
	b.String("free_int1", &f.Int1)
	b.String("free_int2", &f.Int2)
	b.String("free_dec1", &f.Dec1)
	b.String("free_dec2", &f.Dec2)
}
