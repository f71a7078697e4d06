package accounts

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Save returns the keys and the hashes of the ephemeral keys that were used.
func (s *KeyExchange) Save(_ ledger.View) (keys []Key, used []string) {
	keys, used = []Key{}, []string{}
	for key := range s.keys {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(strings.Compare(a.Application, b.Application), strings.Compare(a.Key, b.Key))
	})
	for hash := range s.used {
		used = append(used, hex.EncodeToString(hash[:]))
	}
	slices.Sort(used)
	return keys, used
}

// Restore loads the saved state.
func (s *KeyExchange) Restore(_ ledger.Locked, keys []Key, used []string) error {
	for _, add := range keys {
		s.keys[add] = true
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
