package prepaidtest

import (
	cryptorand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// identifiers makes every id the emulator hands out: random, or the same in each run when seeded.
type identifiers struct {
	mu     sync.Mutex
	seeded *rand.ChaCha8 // nil for real randomness
	last   int64
	drawn  int64 // how often something was taken that does not come again
}

func newIdentifiers(seed *uint64) *identifiers {
	g := &identifiers{last: 100_000_000}
	if seed != nil {
		var key [32]byte
		for i := range 8 {
			key[i] = byte(*seed >> (8 * i))
		}
		g.seeded = rand.NewChaCha8(key)
	}
	return g
}

func (g *identifiers) bytes(n int) []byte {
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

func (g *identifiers) uuid() string {
	b := g.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func (g *identifiers) hex(n int) string { return hex.EncodeToString(g.bytes(n)) }

// digits returns n decimal digits; the slight bias of the remainder does not matter here.
func (g *identifiers) digits(n int) string {
	random := g.bytes(n)
	for i := range random {
		random[i] = '0' + random[i]%10
	}
	return string(random)
}

// transaction returns the next transaction number.
func (g *identifiers) transaction() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	g.drawn++
	return g.last
}
