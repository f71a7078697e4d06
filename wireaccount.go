package prepaid

func (a *Account) readWire(r *wireReader) {
	a.startUnset()
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "account_id":
			r.text((*string)(&a.ID))
		case "external_account_id":
			r.text(&a.ExternalAccountID)
		case "company_id":
			readInteger(r, &a.CompanyID)
		case "balance":
			r.amount(&a.Balance)
		case "card_number":
			r.text(&a.CardNumber)
		case "plastic_expiry":
			r.time(&a.PlasticExpiry)
		case "account_expiry":
			r.time(&a.AccountExpiry)
		case "product_type":
			r.text((*string)(&a.ProductType))
		case "status":
			r.text((*string)(&a.Status))
		case "is_plastic_enabled":
			r.flag(&a.PlasticEnabled)
		case "account_type":
			r.text((*string)(&a.AccountType))
		case "first_transaction_occurred_at":
			r.time(&a.FirstTransactionOccurredAt)
		case "last_transaction_occurred_at":
			r.time(&a.LastTransactionOccurredAt)
		case "display_name":
			r.text(&a.DisplayName)
		case "name_on_card":
			r.text(&a.NameOnCard)
		case "is_compliant":
			readOptional(r, &a.Compliant, (*wireReader).flag)
		case "client_id":
			r.text(&a.ProgramClientID)
		case "client_account_key":
			r.text(&a.ClientAccountKey)
		case "personal":
			readOptional(r, &a.Personal, readPersonal)
		default:
			a.readGroup(r, string(name))
		}
	}
}

// readGroup reads a member of the groups that are seldom asked for.
func (a *Account) readGroup(r *wireReader, name string) {
	switch name {
	case "bpay_biller_code":
		r.text(&a.BPayBillerCode)
	case "bpay_reference_number":
		r.text(&a.BPayReferenceNumber)
	case "direct_entry_bsb":
		r.text(&a.DirectEntryBSB)
	case "direct_entry_account_number":
		r.text(&a.DirectEntryAccountNumber)
	case "free_text":
		readOptional(r, &a.FreeText, readFreeText)
	case "portal_identifier":
		readOptional(r, &a.PortalIdentifier, readPortalIdentifier)
	case "mdes_config_id":
		r.text(&a.MDESConfigID)
	case "corresponding_account_id":
		r.text((*string)(&a.CorrespondingAccountID))
	case "card_holder_type":
		readInteger(r, &a.CardholderType)
	default:
		r.skip(0)
	}
}

func (a *AccountSummary) readWire(r *wireReader) {
	a.startUnset()
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "external_account_id":
			r.text(&a.ExternalAccountID)
		case "company_id":
			readInteger(r, &a.CompanyID)
		case "balance":
			r.amount(&a.Balance)
		case "card_number":
			r.text(&a.CardNumber)
		case "plastic_expiry":
			r.time(&a.PlasticExpiry)
		case "product_type":
			r.text((*string)(&a.ProductType))
		case "status":
			r.text((*string)(&a.Status))
		case "is_plastic_enabled":
			r.flag(&a.PlasticEnabled)
		case "first_transaction_occurred_at":
			r.time(&a.FirstTransactionOccurredAt)
		case "last_transaction_occurred_at":
			r.time(&a.LastTransactionOccurredAt)
		default:
			r.skip(0)
		}
	}
}

func (c *Cardholder) readWire(r *wireReader) { readPersonal(r, c) }

// readPersonal reads a registration, of which more may have to be kept than its values.
func readPersonal(r *wireReader, c *Cardholder) {
	if r.peek(); len(r.people) > 0 {
		r.giveUp() // the second of this account
	}
	start := r.pos
	r.inexact = false
	readCardholder(r, c)
	r.people = append(r.people, person{c, start, r.pos, !r.inexact})
}

func readCardholder(r *wireReader, c *Cardholder) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "title":
			r.text(&c.Title)
		case "first_name":
			r.text(&c.FirstName)
		case "middle_name":
			r.text(&c.MiddleName)
		case "last_name":
			r.text(&c.LastName)
		case "primary_address":
			if r.null() {
				r.settle() // what was read of it before
				c.PrimaryAddress = Address{}
			} else {
				readAddress(r, &c.PrimaryAddress)
			}
		case "alternate_address":
			readOptional(r, &c.AlternateAddress, readAlternateAddress)
		case "sex":
			r.text((*string)(&c.Sex))
		case "mobile_number":
			r.text(&c.MobileNumber)
		case "phone_number":
			r.text(&c.PhoneNumber)
		case "date_of_birth":
			r.date(&c.DateOfBirth)
		case "email_address":
			r.text(&c.EmailAddress)
		case "driver_licence_number":
			r.text(&c.DriverLicenceNumber)
		case "passport":
			readOptional(r, &c.Passport, readPassport)
		default:
			r.skip(0)
		}
	}
}

func readAddress(r *wireReader, a *Address) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "address_line1":
			r.text(&a.Line1)
		case "address_line2":
			r.text(&a.Line2)
		case "address_line3":
			r.text(&a.Line3)
		case "city":
			r.text(&a.City)
		case "state":
			r.text(&a.State)
		case "country":
			r.text(&a.Country)
		case "postcode":
			r.text(&a.Postcode)
		default:
			r.skip(0)
		}
	}
}

func readAlternateAddress(r *wireReader, a *AlternateAddress) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "address_line1":
			r.text(&a.Line1)
		case "address_line2":
			r.text(&a.Line2)
		case "city":
			r.text(&a.City)
		case "state":
			r.text(&a.State)
		case "country":
			r.text(&a.Country)
		case "postcode":
			r.text(&a.Postcode)
		default:
			r.skip(0)
		}
	}
}

func readPassport(r *wireReader, p *Passport) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "passport_number":
			r.text(&p.Number)
		case "passport_expiry":
			r.date(&p.Expiry)
		case "passport_issuing_country":
			r.text(&p.IssuingCountry)
		default:
			r.skip(0)
		}
	}
}

func readPortalIdentifier(r *wireReader, p *PortalIdentifier) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "client_id":
			r.text(&p.ClientID)
		case "program_id":
			r.text(&p.ProgramID)
		case "cardholder_id":
			r.text(&p.CardholderID)
		default:
			r.skip(0)
		}
	}
}

func readFreeText(r *wireReader, t *FreeText) {
	for name, ok := r.first(); ok; name, ok = r.next() {
		switch string(name) {
		case "free_text1":
			r.text(&t.Text1)
		case "free_text2":
			r.text(&t.Text2)
		case "free_text3":
			r.text(&t.Text3)
		case "free_text4":
			r.text(&t.Text4)
		case "free_text5":
			r.text(&t.Text5)
		case "free_text6":
			r.text(&t.Text6)
		case "free_text7":
			r.text(&t.Text7)
		case "free_text8":
			r.text(&t.Text8)
		case "free_int1":
			r.text(&t.Int1)
		case "free_int2":
			r.text(&t.Int2)
		case "free_dec1":
			r.text(&t.Dec1)
		case "free_dec2":
			r.text(&t.Dec2)
		default:
			r.skip(0)
		}
	}
}
