package prepaidtest

import "github.com/cardprograms/prepaid/prepaidtest/state"

// The data that the emulator keeps, as package state describes it.
type (
	// SeedAccount is the initial state of an account. The zero value is an active, empty account of company 42 with a complete
	// registration.
	SeedAccount = state.Account
	// Company is a program that owns accounts.
	Company = state.Company
	// Loop is the kind of policy that a company has.
	Loop = state.Loop
	// Cardholder is the registration of an account (2.3).
	Cardholder = state.Cardholder
	// Address is a primary or alternate address (2.4).
	Address = state.Address
	// Passport has three required fields (2.5).
	Passport = state.Passport
	// FreeText is a program's own data (2.6).
	FreeText = state.FreeText
	// PortalIdentifier names a cardholder in the portal (2.7).
	PortalIdentifier = state.PortalIdentifier
	// WalletToken is a card in a mobile wallet (2.9).
	WalletToken = state.WalletToken
	// WalletDevice is the device of a wallet token.
	WalletDevice = state.WalletDevice
	// PINChange is a PIN change. If you print it, the text has only operation and expiry.
	PINChange = state.PINChange
	// Delivery is one attempt to deliver a message.
	Delivery = state.Delivery
	// MessageState is an undeliverable message (2.14).
	MessageState = state.Message
)
