package prepaidtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// dipKey is an application with one of its keys.
type dipKey struct{ application, key string }

// AddApplication registers an application and one of its keys, both UUIDs, for the key exchange. Until the first
// is registered every well-formed pair is known.
func (s *Server) AddApplication(applicationID, keyID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dipKeys[dipKey{applicationID, keyID}] = true
}

// exchangeKey answers POST /accounts/{id}/dip. The data is this emulator's own choice, since the reference does
// not show it: Base64 of a 12-byte nonce and the AES-256-GCM ciphertext, under the ephemeral key, of a JSON
// object with account_id and card_number. The reference sets no time after which an ephemeral key may be used
// again, so that 32 bytes of each are kept for good.
func (s *Server) exchangeKey(c *exchange.Call) exchange.Response {
	var application, key, ephemeral string
	var faults wire.Faults
	if refusal := c.BindBodyInto(&faults, func(b *wire.Reader) {
		b.String("application_id", &application).Required().Form(wire.IsUUID, "must be a UUID")
		b.String("key_id", &key).Required().Form(wire.IsUUID, "must be a UUID")
		b.String("ephemeral_key", &ephemeral).Required()
	}); refusal != nil {
		return *refusal
	}
	if len(faults.Found) > 0 {
		return c.Refuse(http.StatusBadRequest, dipCode(faults.Found[0].Field), faults.Describe())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.dipKeys) > 0 && !s.dipKeys[dipKey{application, key}] {
		for known := range s.dipKeys {
			if known.application == application {
				return c.Refuse(http.StatusBadRequest, "bad_key_id", "key_id is no key of the application")
			}
		}
		return c.Refuse(http.StatusBadRequest, "bad_application_id", "application_id is not registered")
	}
	secret, err := base64.StdEncoding.DecodeString(ephemeral)
	if err != nil || len(secret) != 32 {
		return c.Refuse(http.StatusBadRequest, "bad_ephemeral_key", "ephemeral_key must be 256 bits in Base64")
	}
	a := s.accounts[c.Params[0]]
	if a == nil || a.status == "closed" {
		return c.Refuse(http.StatusBadRequest, "bad_account", "the account does not exist or is closed")
	}
	seen := sha256.Sum256(secret)
	if s.dipUsed[seen] {
		return c.Refuse(http.StatusBadRequest, "bad_ephemeral_key", "ephemeral_key was used before")
	}
	s.dipUsed[seen] = true
	plain, err := json.Marshal(map[string]string{"account_id": a.id, "card_number": a.cardNumber})
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	nonce := s.ids.Bytes(sealer.NonceSize())
	return c.Octets(base64.StdEncoding.EncodeToString(sealer.Seal(nonce, nonce, plain, nil)))
}

// dipCode is the code of 4.4 for a member.
func dipCode(field string) string {
	switch field {
	case "application_id", "key_id", "ephemeral_key":
		return "bad_" + field
	}
	return "invalid_request"
}
