package accounts

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/fips140"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// KeyExchange carries out the key exchange. The ledger's lock guards its state.
type KeyExchange struct {
	ledger *ledger.Ledger
	ids    *ids.Source
	keys   map[Key]bool
	used   map[[32]byte]bool // hashes of ephemeral keys
}

// NewKeyExchange makes a key exchange without registered keys.
func NewKeyExchange(books *ledger.Ledger, from *ids.Source) *KeyExchange {
	return &KeyExchange{ledger: books, ids: from, keys: make(map[Key]bool), used: make(map[[32]byte]bool)}
}

// Key is one key of an application. Its JSON is that of the saved state.
type Key struct {
	Application string `json:"application_id"`
	Key         string `json:"key_id"`
}

// Add registers an application and one of its keys, both UUIDs, for the key exchange. Before the first Add, every
// well-formed pair is accepted.
func (s *KeyExchange) Add(applicationID, keyID string) {
	l := s.ledger.Lock()
	defer l.Unlock()
	s.keys[Key{applicationID, keyID}] = true
}

// Exchange handles POST /accounts/{id}/dip. The reference does not show the data, so the form of the data is the
// emulator's choice: a JSON object with account_id and card_number, encrypted with AES-256-GCM under the ephemeral
// key, as Base64 of the 12-byte nonce and the ciphertext. The reference sets no time after which an ephemeral key may
// be used again, so the hash of each key is kept forever.
func (s *KeyExchange) Exchange(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[struct {
		Key
		Ephemeral string `json:"ephemeral_key"`
	}](c)
	if refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	if len(s.keys) > 0 && !s.keys[in.Key] {
		for known := range s.keys {
			if known.Application == in.Application {
				return c.Refuse(http.StatusBadRequest, "bad_key_id", "key_id is no key of the application")
			}
		}
		return c.Refuse(http.StatusBadRequest, "bad_application_id", "application_id is not registered")
	}
	secret, err := base64.StdEncoding.DecodeString(in.Ephemeral)
	if err != nil || len(secret) != 32 {
		return c.Refuse(http.StatusBadRequest, "bad_ephemeral_key", "ephemeral_key must be 256 bits in Base64")
	}
	a := l.Account(c.Params[0])
	if a == nil || a.Status == "closed" {
		return c.Refuse(http.StatusBadRequest, "bad_account", "the account does not exist or is closed")
	}
	seen := sha256.Sum256(secret)
	if s.used[seen] {
		return c.Refuse(http.StatusBadRequest, "bad_ephemeral_key", "ephemeral_key was used before")
	}
	s.used[seen] = true
	plain, err := json.Marshal(map[string]string{"account_id": string(a.ID), "card_number": a.CardNumber})
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	var sealer cipher.AEAD
	fips140.WithoutEnforcement(func() { sealer, err = cipher.NewGCM(block) }) // RandomSeed sets the nonce, but FIPS 140 requires a random one
	if err != nil {
		return c.Refuse(http.StatusInternalServerError, "server_error", "")
	}
	nonce := s.ids.Bytes(sealer.NonceSize())
	return c.Octets(base64.StdEncoding.EncodeToString(sealer.Seal(nonce, nonce, plain, nil)))
}
