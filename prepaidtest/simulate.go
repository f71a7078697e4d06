package prepaidtest

import (
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// Authorization is a simulated card transaction to which later transactions can refer.
type Authorization struct {
	// ID is authorization_id.
	ID string
	// Type is Purchase, Withdrawal or PosCredit.
	Type string
	// Amount is the remainder after partial reversals, in decimals.
	Amount string
	// State is open, reversed, cleared or uncleared (the clearing was reversed).
	State string
	// TransactionID is the ID of the latest transaction of the authorization.
	TransactionID prepaid.TransactionID
	// CardAcceptorID is the merchant, or empty.
	CardAcceptorID string
	// TerminalID is the terminal, or empty.
	TerminalID string
	// AcquirerID is the acquirer, or empty.
	AcquirerID string
	// MerchantCategoryCode has four digits, or is empty.
	MerchantCategoryCode string
}

// Authorizations returns the simulated card transactions of an account, oldest first. An unknown EAID fails the test.
func (s *Server) Authorizations(id prepaid.AccountID) []Authorization {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if s.known(l, id) == nil {
		return nil
	}
	return each(s.service.Simulator.Of(l, string(id)), func(made simulator.Authorisation) Authorization {
		return Authorization{
			ID: made.ID, Type: made.Type, Amount: made.Amount.String(), State: string(made.State),
			TransactionID:  prepaid.TransactionID(strconv.FormatInt(made.TransactionID, 10)),
			CardAcceptorID: made.CardAcceptorID, TerminalID: made.TerminalID, AcquirerID: made.AcquirerID, MerchantCategoryCode: made.MerchantCategoryCode,
		}
	})
}
