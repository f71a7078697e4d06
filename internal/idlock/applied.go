package idlock

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/maphash"
)

// maxApplied is how many payments are remembered.
const maxApplied = 1 << 16

// appliedPayments holds the digests of the last maxApplied payments by ID: 48 bytes each, plus the overhead of a map. It holds
// only hashes of IDs: an ID can have 100 characters, and can keep a much longer text in memory. A caller that does not know the
// seeds cannot choose IDs that collide; by chance, two IDs collide in fewer than one of 2^90 clients. After a collision the
// Guard refuses a payment that was never sent.
type appliedPayments struct {
	payments map[idHash]digest
	order    []idHash // a ring once it is full
	oldest   int
	seeds    [2]maphash.Seed
}

type idHash [2]uint64

func newAppliedPayments() appliedPayments {
	return appliedPayments{payments: make(map[idHash]digest), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (a *appliedPayments) hash(id string) idHash {
	return idHash{maphash.String(a.seeds[0], id), maphash.String(a.seeds[1], id)}
}

func (a *appliedPayments) add(key idHash, payment digest) {
	if _, known := a.payments[key]; known {
		return
	}
	if len(a.order) < maxApplied {
		a.order = append(a.order, key)
	} else {
		delete(a.payments, a.order[a.oldest])
		a.order[a.oldest] = key
		a.oldest = (a.oldest + 1) % maxApplied
	}
	a.payments[key] = payment
}

// digest identifies the content of a payment. It is cryptographic, because two payments with the same digest would count as one
// payment. The digester's key prevents chosen collisions and hides the payee in a memory dump.
type digest [16]byte

// digester computes digests: SHA-256 of a random key and the payment, truncated to 128 bits. HMAC would protect against
// extending a payment whose whole hash is known, but no hash is visible, and half of each is dropped.
type digester struct {
	keySize int
	text    []byte // the key, and space for a payment
}

func newDigester() digester {
	key := make([]byte, sha256.Size, 512)
	_, _ = rand.Read(key) // never fails
	return digester{keySize: len(key), text: key}
}

// of returns the digest of everything except the ID.
func (d *digester) of(p *Payment) digest {
	text := append(append(d.text[:d.keySize], p.Operation...), 0)
	text = append(append(text, p.Source...), 0)
	text = append(text, p.Body...)
	sum := sha256.Sum256(text)
	clear(text[d.keySize:])
	d.text = text
	return digest(sum[:len(digest{})])
}
