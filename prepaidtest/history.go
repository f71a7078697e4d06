package prepaidtest

import (
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
)

// Movements returns how many transfers and direct entries were carried out with requestID. It is 1 for a payment made
// once, even if the request was sent again, and more if a repeat arrived while a request was running. Counts are never reset, even
// when the response is no longer cached. If requests may still be running, call WaitIdle first.
func (s *Server) Movements(requestID prepaid.RequestID) int {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return s.service.Transfers.Movements(l, string(requestID))
}

// PaidTwice returns, in sorted order, the request ids with which an operation made more than one movement. A test of payments
// should expect no such id, whichever faults the test injects. If requests may still be running, call WaitIdle first.
func (s *Server) PaidTwice() []prepaid.RequestID {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	var ids []prepaid.RequestID
	for _, id := range s.service.Transfers.PaidTwice(l) {
		ids = append(ids, prepaid.RequestID(id))
	}
	return ids
}

// RunningTransfer is a transfer or direct entry that has arrived and is not carried out yet. If its request id arrives again
// meanwhile, the money moves twice.
type RunningTransfer struct {
	// Operation is named as in Operations.
	Operation string
	// RequestID is empty when the request has none.
	RequestID prepaid.RequestID
	// AccountID is the EAID of the source.
	AccountID prepaid.AccountID
	// Amount is as sent; empty when the body cannot be read.
	Amount string
	// ArrivedAt is the server's clock on arrival.
	ArrivedAt time.Time
	// Age is the real time since the arrival.
	Age time.Duration
	// Left is the real time until the transfer is carried out, 0 when due.
	Left time.Duration
}

// RunningTransfers returns the running transfers and direct entries, oldest first. Only those with the fault Delay or
// CommitAfter take time and can be in the list.
func (s *Server) RunningTransfers() []RunningTransfer {
	return each(s.service.Transfers.Running(), func(r transfers.Running) RunningTransfer {
		return RunningTransfer{r.Operation, prepaid.RequestID(r.RequestID), prepaid.AccountID(r.Account), r.Amount, r.Arrived, time.Since(r.Since), max(time.Until(r.Until), 0)}
	})
}

// Transaction is an item of an account's history (2.8). Amounts are in decimals: credits positive, debits
// negative.
type Transaction struct {
	// ID is the transaction's number.
	ID prepaid.TransactionID
	// ParentID is the ID of the transaction to which this one belongs, or empty.
	ParentID prepaid.TransactionID
	// AccountID is the EAID.
	AccountID prepaid.AccountID
	// Type is the four-digit code.
	Type string
	// Description is the description of the type.
	Description string
	// Amount is the effect on the balance, without the fee.
	Amount string
	// Fee is charged in addition.
	Fee string
	// RunningBalance is the new balance.
	RunningBalance string
	// OccurredAt is the time on the server's clock.
	OccurredAt time.Time
	// CardAcceptorID is the merchant, or empty.
	CardAcceptorID string
	// TerminalID is the terminal, or empty.
	TerminalID string
	// AcquirerID is the acquirer, or empty.
	AcquirerID string
	// MerchantCategoryCode has four digits, or is empty.
	MerchantCategoryCode string
	// Reference is the caller's text.
	Reference string
}

func transactionOf(i ledger.Item) Transaction {
	return Transaction{
		ID: prepaid.TransactionID(strconv.FormatInt(i.ID, 10)), ParentID: prepaid.TransactionID(i.Parent()), AccountID: prepaid.AccountID(i.AccountID),
		Type: string(i.Type), Description: i.Type.Describe(), Amount: i.Amount.String(), Fee: i.Fee.String(), RunningBalance: i.RunningBalance.String(),
		OccurredAt: i.OccurredAt, CardAcceptorID: i.CardAcceptorID, TerminalID: i.TerminalID, AcquirerID: i.AcquirerID,
		MerchantCategoryCode: i.MerchantCategoryCode, Reference: i.Reference,
	}
}

// Transactions returns the history of an account, oldest first.
func (s *Server) Transactions(id prepaid.AccountID) []Transaction {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	a := s.known(l, id)
	if a == nil {
		return nil
	}
	return each(a.Items, transactionOf)
}
