package pin

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// SavedIdentity has the key and the certificate in DER.
type SavedIdentity struct {
	Key         []byte `json:"private_key"` // PKCS #8
	Certificate []byte `json:"certificate"`
}

// Save returns the PIN changes and the identity; the identity is nil if none was made.
func (s *PINs) Save(_ ledger.View) ([]state.PINChange, *SavedIdentity, error) {
	changes := document.Sorted(s.changes, func(_ string, c *state.PINChange) state.PINChange { return *c })
	if s.identity == nil {
		return changes, nil, nil
	}
	identity, err := s.identity.saved()
	return changes, identity, err
}

// Restore loads the saved state.
func (s *PINs) Restore(l ledger.Locked, changes []state.PINChange, identity *SavedIdentity) error {
	for i, add := range changes {
		if l.Account(string(add.AccountID)) == nil {
			return document.Wrong("pin_changes", i, "has no account of the document")
		}
		s.changes[add.OperationID] = &add
	}
	if identity == nil {
		return nil
	}
	var err error
	s.identity, err = identity.identity()
	return err
}

func (i *Identity) saved() (*SavedIdentity, error) {
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return nil, err
	}
	return &SavedIdentity{Key: key, Certificate: i.certificate}, nil
}

func (saved *SavedIdentity) identity() (*Identity, error) {
	wrong := errors.New("pin_identity must be an RSA key and its certificate")
	parsed, err := x509.ParsePKCS8PrivateKey(saved.Key)
	if err != nil {
		return nil, wrong
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, wrong
	}
	certificate, err := x509.ParseCertificate(saved.Certificate)
	if err != nil || !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, wrong
	}
	return &Identity{key: key, certificate: saved.Certificate}, nil
}
