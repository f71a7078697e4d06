package webhook

import (
	"encoding/hex"
	"maps"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

// KeyRing holds the accepted keys: each hmac_key_secret (64 hex characters) by its hmac_key_id. It is safe for concurrent use.
type KeyRing interface {
	// Keys returns the current keys. Neither the caller nor the ring modifies the map afterwards.
	Keys() map[string]prepaid.Secret
}

// StaticKeys is a [KeyRing] that does not change: hmac_key_secret by hmac_key_id.
type StaticKeys map[string]prepaid.Secret

// Keys returns k.
func (k StaticKeys) Keys() map[string]prepaid.Secret { return k }

// Keys is a [KeyRing] that can change while it is used. [Ensure] with [RotateIn] moves a hook from one key of the ring
// to another. To do this manually, Add the new key, move the hook to it with [prepaid.HooksService.Update], and
// Retire the old key. The zero value is an empty ring. It starts no goroutine.
type Keys struct {
	now atomic.Pointer[ringKeys]
}

// ringKeys is not modified once it is in a ring.
type ringKeys struct {
	secrets map[string]prepaid.Secret
	ends    map[string]time.Time // of retired keys
}

// NewKeys returns a ring with a copy of keys.
//
// Errors: *[prepaid.ValidationError] for an empty ID or a secret that is not 64 hex characters.
func NewKeys(keys StaticKeys) (*Keys, error) {
	var faults faultList
	checkKeys(&faults, keys)
	if err := faults.err(); err != nil {
		return nil, err
	}
	k := &Keys{}
	k.now.Store(&ringKeys{secrets: maps.Clone(keys)})
	return k, nil
}

// Keys returns the current keys.
func (k *Keys) Keys() map[string]prepaid.Secret {
	ring := k.now.Load()
	switch {
	case ring == nil:
		return nil
	case len(ring.ends) == 0:
		return ring.secrets
	}
	now, keys := time.Now(), maps.Clone(ring.secrets)
	for id, end := range ring.ends {
		if !now.Before(end) {
			delete(keys, id)
		}
	}
	return keys
}

// Add accepts a key from now on, even if it was retired; it replaces a key with the same ID.
//
// Errors: *[prepaid.ValidationError] for an empty ID or a secret that is not 64 hex characters.
func (k *Keys) Add(id string, secret prepaid.Secret) error {
	var faults faultList
	checkKeys(&faults, StaticKeys{id: secret})
	if err := faults.err(); err != nil {
		return err
	}
	k.change(func(ring *ringKeys) {
		ring.secrets[id] = secret
		delete(ring.ends, id)
	})
	return nil
}

// Retire keeps a key for the given time, then refuses it. It reports whether the key was in the ring. If the key
// already has an earlier end, that end remains.
func (k *Keys) Retire(id string, after time.Duration) bool {
	var found bool
	end := time.Now().Add(after)
	k.change(func(ring *ringKeys) {
		_, found = ring.secrets[id]
		before, retired := ring.ends[id]
		if found && (!retired || end.Before(before)) {
			ring.ends[id] = end
		}
	})
	return found
}

// Remove refuses a key from now on, and reports whether it was in the ring.
func (k *Keys) Remove(id string) bool {
	var found bool
	k.change(func(ring *ringKeys) {
		_, found = ring.secrets[id]
		delete(ring.secrets, id)
		delete(ring.ends, id)
	})
	return found
}

// change replaces the keys by a modified copy, since maps that were returned must not change. Keys past their end are not
// copied.
func (k *Keys) change(edit func(*ringKeys)) {
	for {
		old, now := k.now.Load(), time.Now()
		next := &ringKeys{secrets: map[string]prepaid.Secret{}, ends: map[string]time.Time{}}
		if old != nil {
			maps.Copy(next.secrets, old.secrets)
			maps.Copy(next.ends, old.ends)
		}
		for id, end := range next.ends {
			if !now.Before(end) {
				delete(next.secrets, id)
				delete(next.ends, id)
			}
		}
		edit(next)
		if k.now.CompareAndSwap(old, next) {
			return
		}
	}
}

// checkKeys adds at most one fault per rule: a fault has no value, so it cannot name the key.
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
