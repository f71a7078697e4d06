package state

import "slices"

// Clone returns a deep copy.
func (a Account) Clone() Account {
	a.Portal = clone(a.Portal)
	if a.Cardholder != nil {
		a.Cardholder = new(a.Cardholder.Clone())
	}
	return a
}

// Clone returns a deep copy.
func (c Cardholder) Clone() Cardholder {
	c.AlternateAddress, c.Passport = clone(c.AlternateAddress), clone(c.Passport)
	return c
}

// Clone returns a deep copy.
func (t WalletToken) Clone() WalletToken {
	t.Suspenders = slices.Clone(t.Suspenders)
	return t
}

func clone[T any](of *T) *T {
	if of == nil {
		return nil
	}
	return new(*of)
}
