package prepaidtest

import "github.com/cardprograms/prepaid"

// PINChanges returns the PIN changes of an account that are neither finished nor expired, sorted by expiry. An
// unknown EAID fails the test.
func (s *Server) PINChanges(id prepaid.AccountID) []PINChange {
	now := s.service.Clock.Now()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if s.known(l, id) == nil {
		return nil
	}
	return s.service.PINs.Pending(l, id, now)
}

// OTP returns the cardholder's one-time password for a PIN change, by its operation_id. An unknown
// operation fails the test.
func (s *Server) OTP(operationID string) string {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	otp, known := s.service.PINs.OTP(l, operationID)
	if !known {
		s.fail("OTP: the operation does not exist")
		return ""
	}
	return otp
}

// PINOf returns the PIN of an account, empty until a PIN is set.
func (s *Server) PINOf(id prepaid.AccountID) string {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if a := s.known(l, id); a != nil {
		return a.PIN
	}
	return ""
}

// PINCertificate returns the operator's certificate in PEM, with an RSA key of 2,048 bits made at the first
// call. Its fingerprint is the SHA-256 of the DER in lower hex.
func (s *Server) PINCertificate() []byte {
	identity, err := s.service.PINs.Identity()
	if err != nil {
		s.fail("PINCertificate: %v", err)
		return nil
	}
	return identity.CertificatePEM()
}

// PINFingerprint returns the fingerprint of PINCertificate: 64 characters of lower hex.
func (s *Server) PINFingerprint() string {
	identity, err := s.service.PINs.Identity()
	if err != nil {
		s.fail("PINFingerprint: %v", err)
		return ""
	}
	return identity.Fingerprint()
}
