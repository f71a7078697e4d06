package transfers

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Saved has the response as text, since a repeated request gets the same bytes.
type Saved struct {
	Operation string    `json:"operation"`
	RequestID string    `json:"request_id"`
	Response  string    `json:"response"`
	Expires   time.Time `json:"expires"`
}

// SavedMovements counts the movements of a request_id.
type SavedMovements struct {
	Operation string `json:"operation"`
	RequestID string `json:"request_id"`
	Count     int    `json:"count"`
}

// Save returns the cache, oldest first, and the movements.
func (s *Transfers) Save(_ ledger.View) ([]Saved, []SavedMovements) {
	cached := make([]Saved, len(s.queue))
	for i, key := range s.queue {
		held := s.cache[key]
		cached[i] = Saved{key.operation, key.requestID, string(held.body), held.expires}
	}
	movements := make([]SavedMovements, 0, len(s.movements))
	for key, count := range s.movements {
		movements = append(movements, SavedMovements{key.operation, key.requestID, count})
	}
	slices.SortFunc(movements, func(a, b SavedMovements) int {
		return cmp.Or(strings.Compare(a.Operation, b.Operation), strings.Compare(a.RequestID, b.RequestID))
	})
	return cached, movements
}

// Restore loads the saved state.
func (s *Transfers) Restore(_ ledger.Locked, cached []Saved, movements []SavedMovements) error {
	for _, add := range cached {
		key := transferKey{add.Operation, add.RequestID}
		s.cache[key] = cachedTransfer{body: []byte(add.Response), expires: add.Expires}
		s.queue = append(s.queue, key)
	}
	if len(s.cache) != len(s.queue) {
		return errors.New("transfers has a request_id twice")
	}
	for _, add := range movements {
		s.movements[transferKey{add.Operation, add.RequestID}] = add.Count
	}
	return nil
}
