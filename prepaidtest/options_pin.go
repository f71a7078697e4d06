package prepaidtest

import (
	"crypto"
	_ "crypto/sha1" //nolint:gosec // the mask function of operators whose side cannot do otherwise; links crypto.SHA1
)

// PINTries sets after how many wrong tries for one account, over all its PIN changes, the status becomes
// inactive_pin_tries_exceeded and the operation ends. A wrong try is an envelope that opens, with a wrong one-time
// password or another device_id than the operation's. A right try, and reaching n, reset the count. The reference
// has the status without a condition; by default, zero, tries are not counted.
func PINTries(n int) Option { return func(s *settings) { s.service.PINs.Tries = n } }

// PINMGF1 sets the hash of OAEP's mask function when the server opens a PIN envelope: crypto.SHA1, as in the default
// provider of Java, crypto.SHA256 or crypto.SHA512. The reference does not define it. By default, zero, it is the
// envelope's own OAEP hash.
func PINMGF1(hash crypto.Hash) Option { return func(s *settings) { s.service.PINs.MGF1 = hash } }

func mgf1Hashes() []crypto.Hash { return []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA512} }
