package contract

import (
	"reflect"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// Values that the fixtures of several operations share.

func fixtureCardholder() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		Title: "Canary-Dr", FirstName: "Canary-Mira", MiddleName: "Canary-Jo", LastName: "Canary-O’Testname",
		PrimaryAddress: prepaid.Address{
			Line1: "Canary Unit 1", Line2: "1 Canary Street", Line3: "Canary Court",
			City: "Canaryville", State: "NSW", Country: "AU", Postcode: "2000",
		},
		AlternateAddress: &prepaid.AlternateAddress{
			Line1: "Canary PO Box 1", Line2: "Canary Mail Centre",
			City: "Canaryton", State: "VIC", Country: "NZ", Postcode: "AB12CD",
		},
		Sex: prepaid.SexFemale, MobileNumber: "+61491570156", PhoneNumber: "+61255501234",
		DateOfBirth:         prepaid.Date{Year: 1980, Month: time.February, Day: 29},
		EmailAddress:        "canary.mira@example.com",
		DriverLicenceNumber: "CANARY-DL-1",
		Passport: &prepaid.Passport{
			Number: "CANARY0001", Expiry: prepaid.Date{Year: 2049, Month: time.May, Day: 31}, IssuingCountry: "AUS",
		},
	}
}

// fixtureLeastCardholder returns a cardholder with only the required members.
func fixtureLeastCardholder() *prepaid.Cardholder {
	return &prepaid.Cardholder{
		FirstName: "Canary-Mira", LastName: "Canary-Testname",
		PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
		DateOfBirth:    prepaid.Date{Year: 1980, Month: time.February, Day: 29},
	}
}

func fixturePortal() *prepaid.PortalIdentifier {
	return &prepaid.PortalIdentifier{ClientID: "acme", ProgramID: "cards-2026", CardholderID: "ch-881"}
}

// fixtureAccount returns an account with the required members; edits add other members.
func fixtureAccount(edits ...func(*prepaid.Account)) *prepaid.Account {
	a := &prepaid.Account{
		ID: fixtureID, ExternalAccountID: "ext-90031", CompanyID: 4217, Balance: prepaid.MustAmount("150.25"),
		CardNumber:    "516353******9917",
		PlasticExpiry: fixtureTime(2029, time.November, 30, 23, 59, 59),
		AccountExpiry: fixtureTime(2030, time.November, 30, 23, 59, 59),
		ProductType:   prepaid.ProductTypeReloadable, Status: prepaid.AccountStatusActive, PlasticEnabled: true, AccountType: prepaid.AccountTypeProxy,
	}
	for _, edit := range edits {
		edit(a)
	}
	return a
}

// withOptional sets the optional members outside of groups.
func withOptional(a *prepaid.Account) {
	a.FirstTransactionOccurredAt = fixtureTime(2026, time.February, 3, 4, 5, 6)
	a.LastTransactionOccurredAt = fixtureTime(2026, time.October, 11, 12, 13, 14)
	a.DisplayName, a.NameOnCard = "Canary Employer - Meals", "M.CANARY-TESTNAME"
	a.Compliant = new(true)
	a.ProgramClientID, a.ClientAccountKey = "acme", "emp-7~ !"
	a.PortalIdentifier = fixturePortal()
	var grouped prepaid.Account
	withGroups(&grouped)
	withSingle(&grouped)
	*a = texts(*a, grouped)
}

// withGroups sets the members that a search can ask for.
func withGroups(a *prepaid.Account) {
	a.Cardholder = fixtureCardholder()
	a.BPayBillerCode, a.BPayReferenceNumber = "123456", "70010020991"
	a.DirectEntryBSB, a.DirectEntryAccountNumber = "802985", "00123456"
	a.FreeText = &prepaid.FreeText{
		Text1: "canary text 1", Text2: "canary text 2", Text3: "canary text 3", Text4: "canary text 4",
		Text5: "canary text 5", Text6: "canary text 6", Text7: "canary text 7", Text8: "canary text 8",
		Int1: "101", Int2: "102", Dec1: "1.01", Dec2: "1.02",
	}
}

// withSingle sets the members that only the response with a single account has.
func withSingle(a *prepaid.Account) {
	a.MDESConfigID, a.CorrespondingAccountID, a.CardholderType = "MDES-7", "EA-700100100", prepaid.CardholderTypePrimary
}

// texts returns v. First, a text that is empty in v and in all others gets a value with the name of its field, so
// that a new personal member needs only fixtures.
func texts[T any](v T, others ...T) T {
	for field, value := range reflect.ValueOf(&v).Elem().Fields() {
		text := "Canary " + field.Name
		set := func(in T) bool { return !reflect.ValueOf(in).FieldByIndex(field.Index).IsZero() }
		switch {
		case set(v) || slices.ContainsFunc(others, set):
		case field.Type.Kind() == reflect.String:
			value.SetString(text)
		case field.Type == reflect.TypeFor[*string]():
			value.Set(reflect.ValueOf(&text))
		}
	}
	return v
}

func fixtureStatuses() []prepaid.AccountStatus {
	return []prepaid.AccountStatus{
		prepaid.AccountStatusActive, prepaid.AccountStatusPreActive, prepaid.AccountStatusInactive, prepaid.AccountStatusDeactivated,
		prepaid.AccountStatusLostOrStolen, prepaid.AccountStatusExpired, prepaid.AccountStatusSuspectedFraud, prepaid.AccountStatusClosed,
		prepaid.AccountStatusInactivePINTriesExceeded, prepaid.AccountStatusVendorInactive, prepaid.AccountStatusReplaced,
	}
}

// fixturePage keeps only the exported fields of a page.
func fixturePage[T any](page *prepaid.Page[T], err error) (*prepaid.Page[T], error) {
	if err != nil {
		return page, err
	}
	return &prepaid.Page[T]{
		Items: page.Items, Number: page.Number, Size: page.Size, TotalPages: page.TotalPages, TotalItems: page.TotalItems,
	}, nil
}
