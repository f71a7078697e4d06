package turns

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"hash/maphash"
)

// maxApplied is how many payments are remembered.
const maxApplied = 1 << 16

// appliedPayments holds the digests of the last maxApplied payments by ID: 48 bytes each, plus the overhead of a map. It holds
// only hashes of IDs: an ID can have 100 characters, and can keep a much longer text in memory. Without the seeds nobody can
// choose IDs that collide; otherwise two collide in fewer than one of 2^90 clients. The effect is that a payment which was
// never sent is refused.
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

func (a *appliedPayments) get(id string) (payment digest, known bool) {
	payment, known = a.payments[a.hash(id)]
	return payment, known
}

func (a *appliedPayments) add(id string, payment digest) {
	key := a.hash(id)
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

// digest identifies what a payment sends. It is cryptographic, because two payments with the same digest would count as the
// same. Its key prevents arranging that, and learning from a memory dump who was paid.
type digest [16]byte

// digester computes digests: HMAC-SHA256 with a random key, truncated to 128 bits.
type digester struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

func newDigester() digester {
	var key [sha256.Size]byte
	_, _ = rand.Read(key[:]) // never fails
	return digester{mac: hmac.New(sha256.New, key[:])}
}

// of returns the digest of everything except the ID.
func (d *digester) of(p *Payment) digest {
	d.text = append(append(d.text[:0], p.Operation...), 0)
	d.text = append(append(d.text, p.Source...), 0)
	d.text = append(d.text, p.Body...)
	d.mac.Reset()
	d.mac.Write(d.text)
	clear(d.text)
	return digest(d.mac.Sum(d.sum[:0])[:len(digest{})])
}
