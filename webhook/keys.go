package webhook

import (
	"encoding/hex"
	"maps"
	"sync/atomic"

	"github.com/cardprograms/prepaid"
)

// KeyRing holds the accepted keys: hmac_key_secret by hmac_key_id, each 64 hex characters. It is safe for concurrent
// use.
type KeyRing interface {
	// Keys returns the keys as they are now. The caller does not change the map, nor does the ring afterwards.
	Keys() map[string]prepaid.Secret
}

// StaticKeys is a [KeyRing] that does not change: hmac_key_secret by hmac_key_id. The zero value has no keys.
type StaticKeys map[string]prepaid.Secret

// Keys returns k.
func (k StaticKeys) Keys() map[string]prepaid.Secret { return k }

// Keys is a [KeyRing] that changes while it is used. To change keys: Add the new one, move the hook to it with
// [prepaid.HooksService.Update], and Remove the old one when nothing signed with it can still come. The zero value has
// no keys.
type Keys struct {
	now atomic.Pointer[map[string]prepaid.Secret]
}

// NewKeyRing returns a ring that starts with a copy of keys.
//
// Errors: *[prepaid.ValidationError] for an empty id or a secret that is not 64 hex characters.
func NewKeyRing(keys StaticKeys) (*Keys, error) {
	var faults faultList
	checkKeys(&faults, keys)
	if err := faults.err(); err != nil {
		return nil, err
	}
	k := &Keys{}
	k.now.Store(new(map[string]prepaid.Secret(maps.Clone(keys))))
	return k, nil
}

// Keys returns the keys as they are now.
func (k *Keys) Keys() map[string]prepaid.Secret {
	if now := k.now.Load(); now != nil {
		return *now
	}
	return nil
}

// Add accepts a key from now on; one of the same id is replaced.
//
// Errors: *[prepaid.ValidationError] for an empty id or a secret that is not 64 hex characters.
func (k *Keys) Add(id string, secret prepaid.Secret) error {
	var faults faultList
	checkKeys(&faults, StaticKeys{id: secret})
	if err := faults.err(); err != nil {
		return err
	}
	k.change(func(keys map[string]prepaid.Secret) { keys[id] = secret })
	return nil
}

// Remove refuses a key from now on, and reports whether it was there.
func (k *Keys) Remove(id string) bool {
	var found bool
	k.change(func(keys map[string]prepaid.Secret) {
		_, found = keys[id]
		delete(keys, id)
	})
	return found
}

// change swaps in a changed copy, since maps that were handed out must stay as they are.
func (k *Keys) change(edit func(map[string]prepaid.Secret)) {
	for {
		old := k.now.Load()
		next := map[string]prepaid.Secret{}
		if old != nil {
			maps.Copy(next, *old)
		}
		edit(next)
		if k.now.CompareAndSwap(old, &next) {
			return
		}
	}
}

// checkKeys adds one fault a rule: a fault names no value, so it cannot say which key.
func checkKeys(faults *faultList, keys map[string]prepaid.Secret) {
	var noID, badSecret bool
	for id, secret := range keys {
		key, err := hex.DecodeString(secret.Reveal())
		noID = noID || id == ""
		badSecret = badSecret || err != nil || len(key) != 32
	}
	if noID {
		faults.add("keys", "must have no empty id")
	}
	if badSecret {
		faults.add("keys", "must each be 64 hex characters")
	}
}
