package contract

import (
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

// validCardholder has every field, each well inside its limit.
func validCardholder() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		Title: "Dr", FirstName: "Ann", MiddleName: "B", LastName: "Lee",
		PrimaryAddress:   prepaid.Address{Line1: "1 A St", Line2: "b", Line3: "c", City: "Perth", State: "WA", Country: "AU", Postcode: "6000"},
		AlternateAddress: &prepaid.AlternateAddress{Line1: "2 A St", Line2: "b", City: "Perth", State: "WA", Country: "AU", Postcode: "6000"},
		Sex:              prepaid.SexFemale, MobileNumber: "0400000000", PhoneNumber: "0800000000",
		DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 4}, EmailAddress: "a@example.com", DriverLicenceNumber: "1",
		Passport: &prepaid.Passport{Number: "N1", Expiry: prepaid.Date{Year: 2999, Month: time.December, Day: 31}, IssuingCountry: "AUS"},
	}
}

// today is the date of a bubble, in which requireLimits makes each call.
var today = prepaid.Date{Year: 2000, Month: time.January, Day: 1}

// Section 2.3, with 2.4 and 2.5 inside it, row by row.
func cardholderLimits() []limit[prepaid.Cardholder] {
	rows := []limit[prepaid.Cardholder]{
		atMost("2.3", "title", 50, func(c *prepaid.Cardholder) *string { return &c.Title }),
		needed("2.3", "first_name", func(c *prepaid.Cardholder) *string { return &c.FirstName }),
		atMost("2.3", "first_name", 50, func(c *prepaid.Cardholder) *string { return &c.FirstName }),
		atMost("2.3", "middle_name", 50, func(c *prepaid.Cardholder) *string { return &c.MiddleName }),
		needed("2.3", "last_name", func(c *prepaid.Cardholder) *string { return &c.LastName }),
		atMost("8", "last_name", 50, func(c *prepaid.Cardholder) *string { return &c.LastName }),
	}
	rows = append(rows, within("primary_address.", func(c *prepaid.Cardholder) *prepaid.Address { return &c.PrimaryAddress }, addressLimits())...)
	rows = append(rows, within("alternate_address.", func(c *prepaid.Cardholder) *prepaid.AlternateAddress { return c.AlternateAddress }, alternateLimits())...)
	rows = append(rows, forms("2.3", "sex", "must be one of M, F", func(c *prepaid.Cardholder) *prepaid.Sex { return &c.Sex },
		[2]prepaid.Sex{"m", "M"}, [2]prepaid.Sex{"X", "F"}, [2]prepaid.Sex{"Zhk", ""})...)
	rows = append(rows,
		atMost("2.3", "mobile_number", 50, func(c *prepaid.Cardholder) *string { return &c.MobileNumber }),
		atMost("2.3", "phone_number", 50, func(c *prepaid.Cardholder) *string { return &c.PhoneNumber }),
		limit[prepaid.Cardholder]{
			ref: "2.3", field: "date_of_birth", rule: "is required",
			bad:  func(c *prepaid.Cardholder) { c.DateOfBirth = prepaid.Date{} },
			good: func(c *prepaid.Cardholder) { c.DateOfBirth = prepaid.Date{Year: 1, Month: time.January, Day: 1} },
		},
		limit[prepaid.Cardholder]{
			ref: "2.3", field: "date_of_birth", rule: "a day of the calendar", shown: "1973",
			bad:  func(c *prepaid.Cardholder) { c.DateOfBirth = prepaid.Date{Year: 1973, Month: time.February, Day: 29} },
			good: func(c *prepaid.Cardholder) { c.DateOfBirth = prepaid.Date{Year: 1972, Month: time.February, Day: 29} },
		},
	)
	rows = append(rows, forms("2.3", "email_address", "must be an e-mail address",
		func(c *prepaid.Cardholder) *string { return &c.EmailAddress },
		[2]string{"qzxwv", "q@zx"}, [2]string{"@qzxwv.example", "q+tag.x@zx.example"}, [2]string{"qzxwv@", "Ж@пример.example"},
		[2]string{"Qz Xw <q@zxwv.example>", `"q z"@zx.example`}, [2]string{" q@zxwv.example", "q@[192.0.2.1]"},
		[2]string{"q@zxwv.example, p@zxwv.example", "!#$%&'*+-/=?^_`{|}~@zx.example"}, [2]string{"q@zx\nwv", ""},
		[2]string{`"" <"q"@zxwv.example>`, `"q"@zx.example`}, [2]string{`"q" @zxwv.example`, `"q@q"@zx.example`},
	)...)
	rows = append(rows, atMost("2.3", "driver_licence_number", 30, func(c *prepaid.Cardholder) *string { return &c.DriverLicenceNumber }))
	return append(rows, within("passport.", func(c *prepaid.Cardholder) *prepaid.Passport { return c.Passport }, passportLimits())...)
}

// Section 2.4, column "Primary".
func addressLimits() []limit[prepaid.Address] {
	rows := []limit[prepaid.Address]{
		atMost("2.4", "address_line1", 50, func(a *prepaid.Address) *string { return &a.Line1 }),
		atMost("2.4", "address_line2", 50, func(a *prepaid.Address) *string { return &a.Line2 }),
		atMost("2.4", "address_line3", 50, func(a *prepaid.Address) *string { return &a.Line3 }),
		atMost("2.4", "city", 50, func(a *prepaid.Address) *string { return &a.City }),
		needed("2.4", "state", func(a *prepaid.Address) *string { return &a.State }),
		atMost("2.4", "state", 6, func(a *prepaid.Address) *string { return &a.State }),
		form("2.4", "country", "is required", func(a *prepaid.Address) *string { return &a.Country }, "", "ZZ"),
	}
	rows = append(rows, forms("2.4", "country", "alpha-2", func(a *prepaid.Address) *string { return &a.Country }, badAlpha2()...)...)
	return append(rows, forms("2.4", "postcode", "30 letters and digits", func(a *prepaid.Address) *string { return &a.Postcode }, badPostcodes()...)...)
}

// Section 2.4, column "Alternate": everything is optional, and there is no third line.
func alternateLimits() []limit[prepaid.AlternateAddress] {
	rows := []limit[prepaid.AlternateAddress]{
		atMost("2.4", "address_line1", 50, func(a *prepaid.AlternateAddress) *string { return &a.Line1 }),
		atMost("2.4", "address_line2", 50, func(a *prepaid.AlternateAddress) *string { return &a.Line2 }),
		atMost("2.4", "city", 50, func(a *prepaid.AlternateAddress) *string { return &a.City }),
		atMost("2.4", "state", 6, func(a *prepaid.AlternateAddress) *string { return &a.State }),
	}
	country := append(badAlpha2(), [2]string{"Q", ""})
	rows = append(rows, forms("2.4", "country", "alpha-2", func(a *prepaid.AlternateAddress) *string { return &a.Country }, country...)...)
	return append(rows, forms("2.4", "postcode", "30 letters and digits", func(a *prepaid.AlternateAddress) *string { return &a.Postcode }, badPostcodes()...)...)
}

// Countries are checked by form: a new one must not need a new version of the client.
func badAlpha2() [][2]string {
	return [][2]string{{"QZX", "QZ"}, {"q1", "XX"}, {"qz", "AU"}, {"Ж界", "NZ"}, {"Q ", "GB"}}
}

func badPostcodes() [][2]string {
	return [][2]string{
		{strings.Repeat("7Q", 15) + "7", strings.Repeat("7Q", 15)}, {"77-QZX", "77qzx"}, {"QZ7 7X", "0"}, {"Ж界é7", ""},
	}
}

// Section 2.5: all three are required.
func passportLimits() []limit[prepaid.Passport] {
	rows := []limit[prepaid.Passport]{
		needed("2.5", "passport_number", func(p *prepaid.Passport) *string { return &p.Number }),
		atMost("2.5", "passport_number", 10, func(p *prepaid.Passport) *string { return &p.Number }),
	}
	for _, day := range []struct {
		rule      string
		bad, good prepaid.Date
	}{
		{"is required", prepaid.Date{}, prepaid.Date{Year: 2000, Month: time.January, Day: 3}},
		{"later than today", today, prepaid.Date{Year: 2000, Month: time.January, Day: 2}},
		{"later than today", prepaid.Date{Year: 1973, Month: time.May, Day: 4}, prepaid.Date{Year: 9999, Month: time.December, Day: 31}},
		{"a day of the calendar", prepaid.Date{Year: 2973, Month: time.April, Day: 31}, prepaid.Date{Year: 2973, Month: time.April, Day: 30}},
	} {
		rows = append(rows, limit[prepaid.Passport]{
			ref: "2.5", field: "passport_expiry", rule: day.rule, shown: day.bad.String(),
			bad:  func(p *prepaid.Passport) { p.Expiry = day.bad },
			good: func(p *prepaid.Passport) { p.Expiry = day.good },
		})
	}
	country := func(p *prepaid.Passport) *string { return &p.IssuingCountry }
	rows = append(rows, form("2.5", "passport_issuing_country", "is required", country, "", "ZZZ"))
	return append(rows, forms("2.5", "passport_issuing_country", "alpha-3", country,
		[2]string{"QZ", "QZX"}, [2]string{"QZXW", "AUS"}, [2]string{"qzx", "NZL"}, [2]string{"Q7X", "GBR"})...)
}

// Section 2.7: all three are required; their form is the operator's.
func portalLimits() []limit[prepaid.PortalIdentifier] {
	return []limit[prepaid.PortalIdentifier]{
		needed("2.7", "client_id", func(p *prepaid.PortalIdentifier) *string { return &p.ClientID }),
		needed("2.7", "program_id", func(p *prepaid.PortalIdentifier) *string { return &p.ProgramID }),
		needed("2.7", "cardholder_id", func(p *prepaid.PortalIdentifier) *string { return &p.CardholderID }),
	}
}
