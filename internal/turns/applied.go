package turns

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"hash/maphash"
)

// maxApplied is how many payments that were made are remembered.
const maxApplied = 1 << 16

// appliedPayments holds the digests of the last maxApplied payments by their ids: 48 bytes each, plus the overhead of a map.
// Only the hash of an id is held: an id can have 100 characters, and can keep a much longer text in memory. The hashes of two
// ids that are not chosen to collide, which takes the seeds, are equal in less than one of 2^90 clients. A payment that was
// never sent is refused then.
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

// digest stands for what a payment sends. It is cryptographic, since two payments with one digest would be taken for one.
// Its key prevents both arranging that and learning from a memory dump who was paid.
type digest [16]byte

// digester makes digests: HMAC-SHA256 with a random key, cut to 128 bits.
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

// of returns the digest of everything but the id.
func (d *digester) of(p *Payment) digest {
	d.text = append(append(d.text[:0], p.Operation...), 0)
	d.text = append(append(d.text, p.Source...), 0)
	d.text = append(d.text, p.Body...)
	d.mac.Reset()
	d.mac.Write(d.text)
	clear(d.text)
	return digest(d.mac.Sum(d.sum[:0])[:len(digest{})])
}
