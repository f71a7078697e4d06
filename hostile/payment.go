package hostile

import (
	"fmt"
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Operation is the operation that makes a payment.
type Operation string

const (
	// Transfer pays from card to card: [prepaid.AccountsService.Transfer].
	Transfer Operation = "transfer"
	// DirectEntryOut pays to a bank account: [prepaid.AccountsService.DirectEntryOut].
	DirectEntryOut Operation = "directentryout"
)

// path is the operation's name in the emulator.
func (o Operation) path() string { return "POST /accounts/{id}/" + string(o) }

// Payment is one line of PREPAID_HOSTILE_PAYMENTS. JSON members have the same names as in the operations. Each payment of a run
// has a different amount, by which the harness finds the payment in the accounts.
type Payment struct {
	// RequestID is the request ID of the payment. A worker can use its own IDs instead, one for each payment.
	RequestID prepaid.RequestID `json:"request_id"`
	// Operation is Transfer or DirectEntryOut.
	Operation Operation `json:"operation"`
	// SourceAccountID is the EAID of the paying account.
	SourceAccountID prepaid.AccountID `json:"source_account_id"`
	// Amount is in currency units.
	Amount prepaid.Amount `json:"amount"`
	// SourceReference is the text for the history of the paying account.
	SourceReference string `json:"source_reference"`
	// DestinationReference is the text for the receiving account.
	DestinationReference string `json:"destination_reference"`
	// DestinationAccountID is the EAID of the receiving account of a Transfer.
	DestinationAccountID prepaid.AccountID `json:"destination_account_id,omitzero"`
	// Destination is the fictional bank account of a DirectEntryOut.
	Destination *prepaid.BankAccount `json:"destination_account_info,omitzero"`
	// BSB is the outer member bsb of a DirectEntryOut.
	BSB string `json:"bsb,omitzero"`
}

// Params returns the params of a payment: a [prepaid.TransferParams] or a [prepaid.DirectEntryOutParams].
func (p Payment) Params() prepaid.PaymentParams {
	if p.Operation == Transfer {
		return prepaid.TransferParams{
			RequestID: p.RequestID, Amount: p.Amount, DestinationAccountID: p.DestinationAccountID,
			SourceReference: p.SourceReference, DestinationReference: p.DestinationReference,
		}
	}
	params := prepaid.DirectEntryOutParams{
		RequestID: p.RequestID, Amount: p.Amount, SourceReference: p.SourceReference, DestinationReference: p.DestinationReference, BSB: p.BSB,
	}
	if p.Destination != nil {
		params.Destination = *p.Destination
	}
	return params
}

// orders are the payments of a run, with data that workers do not see.
type orders struct {
	list     []Payment
	refused  map[int]bool // by index in list
	byID     map[prepaid.RequestID]int
	byAmount map[prepaid.Amount]int
	float    prepaid.AccountID
}

// opening is the paying account's balance: enough to make all payments several times.
const opening = "1000000000.00"

// order creates the payments and their accounts.
func order(o Options, srv *prepaidtest.Server) *orders {
	s := &orders{refused: make(map[int]bool), byID: make(map[prepaid.RequestID]int), byAmount: make(map[prepaid.Amount]int)}
	s.float = srv.AddAccount(prepaidtest.SeedAccount{ID: "float", Balance: opening})
	closed := srv.AddAccount(prepaidtest.SeedAccount{ID: "card-closed", Status: "closed"})
	cards := make([]prepaid.AccountID, max(1, o.Payments/4))
	for i := range cards {
		cards[i] = srv.AddAccount(prepaidtest.SeedAccount{ID: prepaid.AccountID("card-" + strconv.Itoa(i+1))})
	}
	for _, n := range o.random(streamOrders).Perm(o.Payments)[:o.Payments/20] {
		s.refused[n] = true
	}
	day := prepaid.DateOf(srv.Now())
	for n := range o.Payments {
		p := Payment{
			RequestID: prepaid.DeriveRequestID(day, "hostile", strconv.FormatUint(o.Seed, 10), strconv.Itoa(n+1)), Operation: Transfer,
			SourceAccountID: s.float, Amount: prepaid.Cents(int64(101 + n)), SourceReference: fmt.Sprint("PAY ", n+1),
			DestinationReference: fmt.Sprint("PAY ", n+1), DestinationAccountID: cards[n%len(cards)],
		}
		switch {
		case s.refused[n]:
			p.DestinationAccountID = closed
		case !o.TransfersOnly && n%3 == 2:
			p.Operation, p.DestinationAccountID, p.BSB = DirectEntryOut, "", "062000"
			p.Destination = &prepaid.BankAccount{BSB: "062000", AccountNumber: strconv.Itoa(12345678 + n), AccountName: "J CITIZEN"}
		}
		s.byID[p.RequestID], s.byAmount[p.Amount] = n, n
		s.list = append(s.list, p)
	}
	return s
}

// find returns the index of the payment with this request ID or, without one, this amount. It returns false if neither matches.
func (s *orders) find(id prepaid.RequestID, amount string) (int, bool) {
	if n, ok := s.byID[id]; ok {
		return n, true
	}
	value, err := prepaid.ParseAmount(amount)
	if err != nil {
		return 0, false
	}
	n, ok := s.byAmount[value]
	return n, ok
}
