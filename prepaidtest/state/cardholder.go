package state

// Cardholder is the registration of an account (2.3), with the values used on the wire. Date-times have the form
// "1990-05-01T00:00:00Z".
type Cardholder struct {
	// Title is optional.
	Title string `json:"title,omitzero"`
	// FirstName is required.
	FirstName string `json:"first_name"`
	// MiddleName is optional.
	MiddleName string `json:"middle_name,omitzero"`
	// LastName is required.
	LastName string `json:"last_name"`
	// PrimaryAddress is required.
	PrimaryAddress Address `json:"primary_address"`
	// AlternateAddress is optional and has no third line.
	AlternateAddress *Address `json:"alternate_address,omitzero"`
	// Sex is M or F. A wallet needs it.
	Sex string `json:"sex,omitzero"`
	// MobileNumber is optional. A wallet and a PIN need it.
	MobileNumber string `json:"mobile_number,omitzero"`
	// PhoneNumber is optional.
	PhoneNumber string `json:"phone_number,omitzero"`
	// DateOfBirth is a date-time; required.
	DateOfBirth string `json:"date_of_birth"`
	// EmailAddress has the form of an e-mail address. A wallet and a PIN need it.
	EmailAddress string `json:"email_address,omitzero"`
	// DriverLicenceNumber is optional.
	DriverLicenceNumber string `json:"driver_licence_number,omitzero"`
	// Passport is optional.
	Passport *Passport `json:"passport,omitzero"`
}

// Address is a primary or alternate address (2.4).
type Address struct {
	// Line1 is optional.
	Line1 string `json:"address_line1,omitzero"`
	// Line2 is optional.
	Line2 string `json:"address_line2,omitzero"`
	// Line3 is for a primary address only.
	Line3 string `json:"address_line3,omitzero"`
	// City is the city or suburb.
	City string `json:"city,omitzero"`
	// State is required in a primary address.
	State string `json:"state,omitzero"`
	// Country is ISO 3166 alpha-2; required in a primary address.
	Country string `json:"country,omitzero"`
	// Postcode is optional.
	Postcode string `json:"postcode,omitzero"`
}

// Passport has three required fields (2.5).
type Passport struct {
	// Number is required.
	Number string `json:"passport_number"`
	// Expiry is a date-time later than the current time.
	Expiry string `json:"passport_expiry"`
	// IssuingCountry is ISO 3166 alpha-3.
	IssuingCountry string `json:"passport_issuing_country"`
}

// FreeText is a program's own data (2.6). An account without free text shows empty strings.
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
