package prepaidtest

// Cardholder is the registration of an account (2.3), with the values used on the wire. Date-times have the form
// "1990-05-01T00:00:00Z".
type Cardholder struct {
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

// WalletToken is a card in a mobile wallet (2.9), with the values used on the wire.
type WalletToken struct {
	// StorageTechnology is where the wallet keeps the token.
	StorageTechnology string `json:"storage_technology"`
	// Device is the token's device.
	Device WalletDevice `json:"device"`
	// LastCommentID is required.
	LastCommentID string `json:"last_comment_id"`
	// TokenType is the kind of token.
	TokenType string `json:"token_type"`
	// PaymentAppInstanceID is optional.
	PaymentAppInstanceID string `json:"payment_app_instance_id,omitzero"`
	// WalletID is optional.
	WalletID string `json:"wallet_id,omitzero"`
	// TokenRequestorName is optional.
	TokenRequestorName string `json:"token_requestor_name,omitzero"`
	// TokenRequestorID has up to 11 characters.
	TokenRequestorID string `json:"token_requestor_id"`
	// TokenAssuranceLevel is "0" when not authenticated.
	TokenAssuranceLevel string `json:"token_assurance_level"`
	// ProvisioningStatusDescription is optional.
	ProvisioningStatusDescription string `json:"provisioning_status_description,omitzero"`
	// ProvisioningStatusCode is optional.
	ProvisioningStatusCode string `json:"provisioning_status_code,omitzero"`
	// Suspenders lists the parties that suspended the token.
	Suspenders []string `json:"suspenders,omitzero"`
	// CurrentStatusDateTime is a date-time.
	CurrentStatusDateTime string `json:"current_status_date_time"`
	// CurrentStatusCode is unknown, unmapped, active, suspended or deleted.
	CurrentStatusCode string `json:"current_status_code"`
	// CurrentStatusDescription is required.
	CurrentStatusDescription string `json:"current_status_description"`
	// CorrelationID is optional.
	CorrelationID string `json:"correlation_id,omitzero"`
	// ActivationCodeExpirationDateTime is an optional date-time.
	ActivationCodeExpirationDateTime string `json:"activation_code_expiration_date_time,omitzero"`
	// FinalTokenizationDecision is optional.
	FinalTokenizationDecision string `json:"final_tokenization_decision,omitzero"`
	// TokenActivatedDateTime is an optional date-time.
	TokenActivatedDateTime string `json:"token_activated_date_time,omitzero"`
	// DigitizationRequestDateTime is an optional date-time.
	DigitizationRequestDateTime string `json:"digitization_request_date_time,omitzero"`
	// AccountPANSequenceNumber is from 000 to 099.
	AccountPANSequenceNumber string `json:"account_pan_sequence_number"`
	// ExpirationDate has the form mmyy.
	ExpirationDate string `json:"expiration_date"`
	// TokenSuffix is the last four digits.
	TokenSuffix string `json:"token_suffix,omitzero"`
	// PrimaryAccountNumberUniqueReference is optional.
	PrimaryAccountNumberUniqueReference string `json:"primary_account_number_unique_reference,omitzero"`
	// TokenUniqueReference has 48 characters.
	TokenUniqueReference string `json:"token_unique_reference"`
	// TokenDeletedFromConsumerApp is required.
	TokenDeletedFromConsumerApp bool `json:"token_deleted_from_consumer_app"`
}

// WalletDevice is the device of a wallet token; every field is optional.
type WalletDevice struct {
	// DeviceID may be masked.
	DeviceID string `json:"device_id,omitzero"`
	// DeviceName is free text.
	DeviceName string `json:"device_name,omitzero"`
	// SecureElementID names the chip.
	SecureElementID string `json:"secure_element_id,omitzero"`
	// DeviceType is one of the values of 2.9.
	DeviceType string `json:"device_type,omitzero"`
}
