package prepaidtest

import (
	"cmp"
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Simulation is the input of Simulate (2.15), with the values used on the wire. Empty fields are taken from the
// authorization of AuthorizationID: a reversal of a purchase needs only Operation and AuthorizationID.
type Simulation struct {
	// Operation is transact (when empty), advice, reverse, clear or reverse_clear.
	Operation string
	// Type is Purchase (when empty), Withdrawal or PosCredit (a refund at the point of sale).
	Type string
	// AccountID is the EAID.
	AccountID prepaid.AccountID
	// Amount is in decimals, for example "18.90". If empty, the open amount of the authorization is used.
	Amount string
	// AuthorizationID is the transaction that any operation except transact refers to.
	AuthorizationID string
	// CardAcceptorID is the merchant, merchant_id in the simulator.
	CardAcceptorID string
	// TerminalID is the terminal.
	TerminalID string
	// AcquirerID is the acquirer.
	AcquirerID string
	// MerchantCategoryCode has four digits; a Withdrawal needs the category of an ATM, such as 6011.
	MerchantCategoryCode string
	// Location becomes the reference of the transaction.
	Location string
}

// SimulationResult is the simulator's response.
type SimulationResult struct {
	// TransactionID is transaction_reference of a successful transact.
	TransactionID prepaid.TransactionID
	// AuthorizationID is from a successful transact, advice or reverse.
	AuthorizationID string
	// Success reports whether the operation was approved. For clear and reverse_clear, which take effect after
	// SimulationDelay, it reports whether the operation was accepted.
	Success bool
	// Message is the reason if Success is false, such as "Insufficient funds" or "Declined by policy".
	Message string
}

// Simulate uses the card of an account as the simulator does (4.6), with the same checks, history and webhook messages.
// Simulate works with [Options].Production too. After invalid input, such as an amount that is not a decimal, the test fails
// and Simulate returns the zero SimulationResult.
func (s *Server) Simulate(do Simulation) SimulationResult {
	s.service.Clock.Settle()
	in := simulator.Input{
		Kind: do.Type, Account: string(do.AccountID), Authorisation: do.AuthorizationID, Location: do.Location,
		Merchant: ledger.Merchant{
			CardAcceptorID: do.CardAcceptorID, TerminalID: do.TerminalID, AcquirerID: do.AcquirerID, MerchantCategoryCode: do.MerchantCategoryCode,
		},
	}
	made, known := s.authorisation(do.AuthorizationID)
	if known {
		in.Kind, in.Account = cmp.Or(in.Kind, made.Type), cmp.Or(in.Account, made.Account)
		if in.Merchant == (ledger.Merchant{}) {
			in.Merchant = made.Merchant
		}
	}
	in.Kind, do.Operation = cmp.Or(in.Kind, "Purchase"), cmp.Or(do.Operation, simulator.Transact)
	in.Amount = made.Amount
	if do.Amount != "" || !known {
		var err error
		if in.Amount, err = wire.ParseMoney(do.Amount); err != nil {
			s.fail("Simulate: Amount %v", err)
			return SimulationResult{}
		}
	}
	if problem := simulator.Check(do.Operation, in); problem != "" {
		s.fail("Simulate: %s", problem)
		return SimulationResult{}
	}
	out := s.service.Simulator.Do(do.Operation, in)
	return SimulationResult{prepaid.TransactionID(out.Reference), out.Authorisation, out.Success, out.Message}
}

func (s *Server) authorisation(id string) (simulator.Authorisation, bool) {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return s.service.Simulator.Authorisation(l, id)
}

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
