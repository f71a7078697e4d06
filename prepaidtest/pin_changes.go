package prepaidtest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// PINChange is a PIN change under way, with what the cardholder gets on the phone. Printing one shows operation and
// expiry only.
type PINChange struct {
	// OperationID is that of POST /pin/initiate, a UUID.
	OperationID string
	// OTP is the one-time password, six digits.
	OTP string
	// DeviceID is the one that the further requests must have.
	DeviceID string
	// ExpiresAt is in UTC, on the server's clock.
	ExpiresAt time.Time
}

// Format writes operation and expiry, whatever the verb.
func (c PINChange) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "PIN change "+c.OperationID+" until "+c.ExpiresAt.UTC().Format(wire.TimeLayout))
}

// PINChanges returns the PIN changes of an account that are neither finished nor expired, the one that expires first
// first. An unknown EAID fails the test.
func (s *Server) PINChanges(eaid string) []PINChange {
	now := s.clock.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.known(eaid) == nil {
		return nil
	}
	var list []PINChange
	for id, change := range s.pinChanges {
		if change.account == eaid && !change.finished && now.Before(change.expires) {
			list = append(list, PINChange{OperationID: id, OTP: change.otp, DeviceID: change.device, ExpiresAt: change.expires.UTC()})
		}
	}
	slices.SortFunc(list, func(a, b PINChange) int {
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), cmp.Compare(a.OperationID, b.OperationID))
	})
	return list
}

// PINFingerprint returns the fingerprint of PINCertificate: 64 characters of lower hex.
func (s *Server) PINFingerprint() string {
	identity, err := s.pinKey()
	if err != nil {
		s.fail("PINFingerprint: %v", err)
		return ""
	}
	return identity.fingerprint()
}
