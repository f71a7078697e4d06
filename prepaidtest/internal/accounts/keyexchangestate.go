package accounts

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// SavedKey is a registered key.
type SavedKey struct {
	Application string `json:"application_id"`
	Key         string `json:"key_id"`
}

// Save returns the keys and the hashes of the ephemeral keys that were used.
func (s *KeyExchange) Save(_ ledger.View) (keys []SavedKey, used []string) {
	keys, used = []SavedKey{}, []string{}
	for key := range s.keys {
		keys = append(keys, SavedKey{key.application, key.key})
	}
	slices.SortFunc(keys, func(a, b SavedKey) int {
		return cmp.Or(strings.Compare(a.Application, b.Application), strings.Compare(a.Key, b.Key))
	})
	for hash := range s.used {
		used = append(used, hex.EncodeToString(hash[:]))
	}
	slices.Sort(used)
	return keys, used
}

// Restore puts back what was saved.
func (s *KeyExchange) Restore(_ ledger.Locked, keys []SavedKey, used []string) error {
	for _, add := range keys {
		s.keys[dipKey{add.Application, add.Key}] = true
	}
	for i, text := range used {
		var hash [32]byte
		if len(text) != hex.EncodedLen(len(hash)) || hexInto(hash[:], text) != nil {
			return document.Wrong("dip_used", i, "must be 32 bytes in hex")
		}
		s.used[hash] = true
	}
	return nil
}

func hexInto(to []byte, text string) error {
	_, err := hex.Decode(to, []byte(text))
	return err
}
