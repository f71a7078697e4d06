package funding

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Saved is a redemption in the saved state.
type Saved struct {
	Item        int64      `json:"transaction_id"`
	Account     string     `json:"account_id"`
	Originating int64      `json:"originating_transaction"`
	Correlation string     `json:"correlation_id"`
	Amount      wire.Money `json:"amount"`
	Refunded    wire.Money `json:"refunded"`
	Reversed    bool       `json:"reversed"`
}

// Save returns the redemptions.
func (s *Funding) Save(_ ledger.View) []Saved {
	return document.Sorted(s.redeemed, func(_ int64, r *redemption) Saved {
		return Saved{r.item, r.account, r.originating, r.correlation, r.amount, r.refunded, r.reversed}
	})
}

// Restore puts back what was saved.
func (s *Funding) Restore(_ ledger.Locked, saved []Saved) {
	for _, add := range saved {
		s.redeemed[add.Item] = &redemption{
			account: add.Account, originating: add.Originating, correlation: add.Correlation, amount: add.Amount,
			refunded: add.Refunded, reversed: add.Reversed, item: add.Item,
		}
	}
}
