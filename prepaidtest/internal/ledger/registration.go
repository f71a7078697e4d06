package ledger

// Package prepaidtest declares WalletToken and the types of a registration again, as exported types; its convert.go
// explains why. The tags define requests, seed documents, the saved state and the schemas: see wire.Field.

// Personal is the registration of a cardholder (2.3), as on the wire. Date-times have the form
// "1990-05-01T00:00:00Z".
type Personal struct {
	Title               string    `json:"title,omitzero" rule:"max=50"`
	FirstName           string    `json:"first_name" rule:"required,filled,max=50"`
	MiddleName          string    `json:"middle_name,omitzero" rule:"max=50"`
	LastName            string    `json:"last_name" rule:"required,filled,max=50"`
	PrimaryAddress      Address   `json:"primary_address" as:"primary" rule:"required"`
	AlternateAddress    *Address  `json:"alternate_address,omitzero"`
	Sex                 string    `json:"sex,omitzero" rule:"in=M|F"`
	MobileNumber        string    `json:"mobile_number,omitzero" rule:"max=50"`
	PhoneNumber         string    `json:"phone_number,omitzero" rule:"max=50"`
	DateOfBirth         string    `json:"date_of_birth" rule:"date-time,required"`
	EmailAddress        string    `json:"email_address,omitzero" rule:"email"`
	DriverLicenceNumber string    `json:"driver_licence_number,omitzero" rule:"max=30"`
	Passport            *Passport `json:"passport,omitzero"`
}

// Address is a primary or alternate address (2.4).
type Address struct {
	Line1    string `json:"address_line1,omitzero" rule:"max=50"`
	Line2    string `json:"address_line2,omitzero" rule:"max=50"`
	Line3    string `json:"address_line3,omitzero" rule:"max=50" only:"primary"`
	City     string `json:"city,omitzero" rule:"max=50"`
	State    string `json:"state,omitzero" rule:"max=6" primary:"required,filled"`
	Country  string `json:"country,omitzero" rule:"country2" primary:"required"`
	Postcode string `json:"postcode,omitzero" rule:"max=30,alphanumeric"`
}

// Passport has three required fields (2.5).
type Passport struct {
	Number         string `json:"passport_number" rule:"required,max=10"`
	Expiry         string `json:"passport_expiry" rule:"date-time,required,later"`
	IssuingCountry string `json:"passport_issuing_country" rule:"required,country3"`
}

// FreeText is a program's own data (2.6). An account without free text shows empty strings.
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
	ClientID     string `json:"client_id" rule:"required"`
	ProgramID    string `json:"program_id" rule:"required"`
	CardholderID string `json:"cardholder_id" rule:"required"`
}
