package prepaid

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"hash/maphash"
)

// settledIDs is how many request ids of payments that were made a client remembers.
const settledIDs = 1 << 16

// settledPayments holds the digests of the last settledIDs payments by their ids: 48 bytes each, and what a map adds.
// A request id can be as long as 100 characters of a text that is much longer, so only its hash is held. Of ids that are not
// chosen to collide, which takes the seeds, two collide in less than one of 2^90 clients, and a payment that was never sent is
// refused then.
type settledPayments struct {
	payments map[idHash]digest
	order    []idHash // a ring once it is full
	oldest   int
	seeds    [2]maphash.Seed
}

type idHash [2]uint64

func (s *settledPayments) hash(id RequestID) idHash {
	return idHash{maphash.String(s.seeds[0], string(id)), maphash.String(s.seeds[1], string(id))}
}

func (s *settledPayments) get(id RequestID) (payment digest, known bool) {
	if s.payments == nil {
		return digest{}, false
	}
	payment, known = s.payments[s.hash(id)]
	return payment, known
}

func (s *settledPayments) add(id RequestID, payment digest) {
	if s.payments == nil {
		s.payments = make(map[idHash]digest)
		s.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	key := s.hash(id)
	if _, known := s.payments[key]; known {
		return
	}
	if len(s.order) < settledIDs {
		s.order = append(s.order, key)
	} else {
		delete(s.payments, s.order[s.oldest])
		s.order[s.oldest] = key
		s.oldest = (s.oldest + 1) % settledIDs
	}
	s.payments[key] = payment
}

// digest stands for what a payment sends. It is cryptographic, since two payments with one digest would be taken for one,
// and its key keeps that from being arranged and keeps a dump of the memory from revealing whom was paid.
type digest [16]byte

// digester makes digests: HMAC-SHA256 with a random key, cut to 128 bits.
type digester struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// of takes operation, source and body as it is sent. Neither of the first two holds a NUL.
func (d *digester) of(r *request) digest {
	if d.mac == nil {
		var key [sha256.Size]byte
		_, _ = rand.Read(key[:]) // never fails
		d.mac = hmac.New(sha256.New, key[:])
	}
	d.text = append(append(d.text[:0], r.op.Name...), 0)
	d.text = append(append(d.text, r.account...), 0)
	d.text = append(d.text, r.encoded...)
	d.mac.Reset()
	d.mac.Write(d.text)
	clear(d.text)
	return digest(d.mac.Sum(d.sum[:0])[:len(digest{})])
}
