package prepaidtest

import (
	"crypto"
	_ "crypto/sha1" //nolint:gosec // the mask function of operators whose side cannot do otherwise; links crypto.SHA1
)

// PINTries makes n wrong tries for one account, over all its PIN changes, set the status
// inactive_pin_tries_exceeded and finish the operation. A wrong try is an envelope that opens and holds a wrong
// one-time password, or comes with a device_id that is not that of the operation. A right one, and reaching n, start
// the count again. The reference has the status and does not say when it is set; by default, zero, tries are
// not counted.
func PINTries(n int) Option { return func(s *settings) { s.service.PINs.Tries = n } }

// PINMGF1 sets the hash of OAEP's mask function when the server opens a PIN envelope: crypto.SHA1, as in the default
// provider of Java, crypto.SHA256 or crypto.SHA512. The reference does not say which. By default, zero, it is the
// envelope's own OAEP hash.
func PINMGF1(hash crypto.Hash) Option { return func(s *settings) { s.service.PINs.MGF1 = hash } }

func mgf1Hashes() []crypto.Hash { return []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA512} }
