package funding

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Save returns the redemptions.
func (s *Funding) Save(_ ledger.View) []Redemption {
	return document.Sorted(s.redeemed, func(_ int64, r *Redemption) Redemption { return *r })
}

// Restore loads the saved state.
func (s *Funding) Restore(_ ledger.Locked, saved []Redemption) {
	for _, add := range saved {
		s.redeemed[add.Item] = &add
	}
}
