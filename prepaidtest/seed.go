package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seedData is the state of an account to begin with. What is empty gets a default.
type seedData struct {
	ID                     string
	ExternalID             string
	CompanyID              int64
	Key                    string
	Status                 string
	ProductType            string
	AccountType            string
	PlasticDisabled        bool
	PlasticExpiry          time.Time
	AccountExpiry          time.Time
	DisplayName            string
	NameOnCard             string
	Personal               *personalData
	FreeText               freeTextData
	Portal                 *portalData
	MDESConfigID           string
	CorrespondingAccountID string
	CardholderType         int
}

// addSeed puts a checked account in place.
func (s *service) addSeed(l Locked, owner *company, seed seedData, balance wire.Money) string {
	now := s.clock.Now()
	a := l.newAccount(owner, now)
	a.id, a.externalID = valueOr(seed.ID, a.id), valueOr(seed.ExternalID, a.externalID)
	a.status, a.plastic, a.clientAccountKey = valueOr(seed.Status, "active"), !seed.PlasticDisabled, seed.Key
	a.productType, a.accountType = valueOr(seed.ProductType, a.productType), valueOr(seed.AccountType, a.accountType)
	a.plasticExpiry = expires(valueOr(seed.PlasticExpiry, a.plasticExpiry.Time))
	a.accountExpiry = expires(valueOr(seed.AccountExpiry, a.accountExpiry.Time))
	a.displayName, a.nameOnCard, a.freeText = seed.DisplayName, seed.NameOnCard, seed.FreeText
	if seed.Portal != nil {
		a.portal = new(*seed.Portal)
	}
	a.mdesConfigID, a.corresponding = seed.MDESConfigID, seed.CorrespondingAccountID
	a.holderType = int64(valueOr(seed.CardholderType, 1))
	a.personal = register(somebody())
	if seed.Personal != nil {
		a.personal = register(*seed.Personal)
	}
	l.add(a)
	if balance != 0 {
		l.post(a, entry{code: codeLoad, amount: balance, reference: "opening balance"}, now)
	}
	return a.id
}

func valueOr[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}

// somebody is a complete registration.
func somebody() personalData {
	return personalData{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: addressData{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}
