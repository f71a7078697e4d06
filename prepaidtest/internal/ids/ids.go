// Package ids makes every id of the emulator: random, or the same in each run if seeded.
//
// A Source is safe for concurrent use. It is part of a saved state, so that an emulator that continues from this state
// repeats neither a transaction number nor a seeded id.
package ids

import (
	cryptorand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// Source makes every id of the emulator: random, or the same in each run if seeded.
type Source struct {
	mu     sync.Mutex
	seeded *rand.ChaCha8 // nil for real randomness
	last   int64
	drawn  int64 // changes of the saved state
}

// New makes a source; with a nil seed it is random.
func New(seed *uint64) *Source {
	g := &Source{last: 100_000_000}
	if seed != nil {
		var key [32]byte
		for i := range 8 {
			key[i] = byte(*seed >> (8 * i))
		}
		g.seeded = rand.NewChaCha8(key)
	}
	return g
}

// Bytes returns n random bytes.
func (g *Source) Bytes(n int) []byte {
	random := make([]byte, n)
	if g.seeded == nil {
		_, _ = cryptorand.Read(random) // never fails
		return random
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = g.seeded.Read(random) // never fails
	g.drawn++
	return random
}

// UUID returns a UUID of version 4.
func (g *Source) UUID() string {
	b := g.Bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// Hex returns n random bytes in lower hex.
func (g *Source) Hex(n int) string { return hex.EncodeToString(g.Bytes(n)) }

// Digits returns n decimal digits. The remainder makes some digits slightly more frequent, which does not matter here.
func (g *Source) Digits(n int) string {
	random := g.Bytes(n)
	for i := range random {
		random[i] = '0' + random[i]%10
	}
	return string(random)
}

// Transaction returns the next transaction number.
func (g *Source) Transaction() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	g.drawn++
	return g.last
}

// Taken counts the changes of the state that Save returns.
func (g *Source) Taken() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drawn
}

// Save returns the last transaction number and, for a seeded source, the state of the generator.
func (g *Source) Save() (last int64, source []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seeded != nil {
		source, err = g.seeded.MarshalBinary()
	}
	return g.last, source, err
}

// Restore continues from a saved state. If source is nil, the current generator stays.
func (g *Source) Restore(last int64, source []byte) error {
	g.last = last
	if source == nil {
		return nil
	}
	g.seeded = new(rand.ChaCha8)
	return g.seeded.UnmarshalBinary(source)
}
