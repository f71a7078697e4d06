// Package simulator carries out the simulated card transactions.
//
// Simulator keeps the authorisations that later transactions refer to, under the lock of the ledger. A clearing and its
// reversal take effect after a delay, and are tasks of the clock until then.
package simulator

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Authorisation is a simulated transaction that later transactions can refer to. Its JSON is that of the saved state.
type Authorisation struct {
	ID              string     `json:"authorization_id"`
	Account         string     `json:"account_id"`
	Type            string     `json:"transaction_type"`
	Amount          wire.Money `json:"amount"` // as requested
	ledger.Merchant `json:"merchant"`
	TransactionID   int64 `json:"transaction_id"`
	State           State `json:"state"`
}

// Simulator carries out the simulated transactions. The ledger's lock guards it.
type Simulator struct {
	ledger    *ledger.Ledger
	clock     *clock.Clock
	ids       *ids.Source
	policies  *policy.Policies
	with      Options
	approvals map[string]*Authorisation
}

// Options are the choices that the reference leaves open about the simulator.
type Options struct {
	Delay            time.Duration // of clear and reverse_clear
	MatchedReversals bool          // reverse_clear books nothing without a matching clearing
	MatchByID        bool          // a matching authorisation may have another merchant
}

// New makes the simulator.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, policies *policy.Policies, with Options) *Simulator {
	return &Simulator{ledger: books, clock: c, ids: from, policies: policies, with: with, approvals: make(map[string]*Authorisation)}
}

// State is the state of an authorisation.
type State string

const (
	authorisationOpen      State = "open"
	authorisationReversed  State = "reversed"
	authorisationCleared   State = "cleared"
	authorisationUncleared State = "uncleared" // the clearing was reversed
)

// Input is the input of the five operations (2.15). Its JSON is that of the saved state.
type Input struct {
	Kind          string          `json:"transaction_type"`
	Account       string          `json:"account_id"`
	Authorisation string          `json:"authorization_id,omitzero"`
	Location      string          `json:"-"`
	Amount        wire.Money      `json:"amount"`
	Merchant      ledger.Merchant `json:"merchant"`
}

// simulateBody is the response. Each operation omits the members that do not apply to it.
type simulateBody struct {
	Reference     *string `json:"transaction_reference,omitempty"`
	Authorisation *string `json:"authorization_id,omitempty"`
	Success       bool    `json:"success"`
	Message       string  `json:"message"`
}

// The five operations, by the last part of their path. The first has no authorization_id. The last two have no location, and
// take effect after a delay.
const (
	Transact     = "transact"
	Advice       = "advice"
	Reverse      = "reverse"
	Clear        = "clear"
	ReverseClear = "reverse_clear"
)

func isLater(operation string) bool { return operation == Clear || operation == ReverseClear }

// body has the members that have an effect (2.15).
type body struct {
	Kind          string     `json:"transaction_type"`
	Account       string     `json:"account_id"`
	Amount        wire.Money `json:"amount"`
	Acquirer      string     `json:"acquirer_id"`
	Merchant      string     `json:"merchant_id"`
	Terminal      string     `json:"terminal_id"`
	Category      string     `json:"mcc"`
	Location      string     `json:"location"`
	Authorisation string     `json:"authorization_id"`
}

// Outcome is the result of an operation. Reference and Authorisation are empty when it failed.
type Outcome struct {
	Reference, Authorisation string
	Success                  bool
	Message                  string
}

// Handle makes the handler of POST /simulation/{operation}.
func (s *Simulator) Handle(operation string) func(*exchange.Call) exchange.Response {
	return func(c *exchange.Call) exchange.Response {
		in, refusal := exchange.Body[body](c)
		if refusal != nil {
			return *refusal
		}
		out := s.Do(operation, Input{
			Kind: in.Kind, Account: in.Account, Authorisation: in.Authorisation, Location: in.Location, Amount: in.Amount, Merchant: ledger.Merchant{
				AcquirerID: in.Acquirer, CardAcceptorID: in.Merchant, TerminalID: in.Terminal, MerchantCategoryCode: in.Category,
			},
		})
		made := simulateBody{Success: out.Success, Message: out.Message}
		if operation == Transact {
			made.Reference = &out.Reference
		}
		if !isLater(operation) {
			made.Authorisation = &out.Authorisation
		}
		return c.JSON(http.StatusOK, made)
	}
}

// Do carries out an operation.
func (s *Simulator) Do(operation string, in Input) Outcome {
	l := s.ledger.Lock()
	defer l.Unlock()
	a, problem := s.usable(l.View, &in)
	switch {
	case problem != "":
		return Outcome{Message: problem}
	case operation == Transact:
		return s.transact(l, a, &in)
	case operation == Advice && in.Kind != "Purchase":
		return Outcome{Message: "An advice is for purchases"}
	case s.mistyped(l.View, &in):
		return Outcome{Message: "The transaction type is not that of the authorisation"}
	case isLater(operation):
		s.clock.After(s.with.Delay, &Task{simulator: s, kind: operation, input: &in})
		return Outcome{Success: true, Message: "Accepted"}
	}
	follow := s.reverse
	if operation == Advice {
		follow = s.advice
	}
	made, problem := follow(l, a, &in, s.matching(l.View, &in, authorisationOpen))
	if problem != "" {
		return Outcome{Message: problem}
	}
	return Outcome{Authorisation: made.ID, Success: true, Message: "Approved"}
}

func (in *Input) entry(code ledger.Code, amount wire.Money, parent int64) ledger.Entry {
	return ledger.Entry{Type: code, Amount: amount, ParentID: parent, Merchant: in.Merchant, Reference: in.Location}
}

// signed is the effect of a transaction on the balance.
func signed(kind string, amount wire.Money) wire.Money {
	if kind == "PosCredit" {
		return amount
	}
	return amount.Neg()
}

// usable returns the account, or the reason why rule 1 of 4.6 refuses it.
func (s *Simulator) usable(l ledger.View, in *Input) (*ledger.Account, string) {
	a := l.Account(in.Account)
	switch {
	case a == nil:
		return nil, "Invalid account"
	case a.Status == "closed":
		return nil, "Account closed"
	case a.Status != "active":
		return nil, "Account not active"
	case bool(a.PlasticDisabled):
		return nil, "Plastic not enabled"
	}
	return a, ""
}

// transact makes a purchase, a withdrawal or a credit.
func (s *Simulator) transact(l ledger.Locked, a *ledger.Account, in *Input) Outcome {
	amount := signed(in.Kind, in.Amount)
	switch {
	case in.Kind == "Withdrawal" && !isATM(in.Merchant.MerchantCategoryCode):
		return Outcome{Message: "A withdrawal needs an ATM merchant category"}
	case !s.policies.Approve(l.View, a.Company.ID, in.Merchant):
		return Outcome{Message: "Declined by policy"}
	case !a.Room(amount):
		return Outcome{Message: "Insufficient funds"}
	}
	made := s.open(l, a, in, transactCode(in.Kind))
	if made == nil {
		return Outcome{Message: outOfRange}
	}
	return Outcome{Reference: strconv.FormatInt(made.TransactionID, 10), Authorisation: made.ID, Success: true, Message: "Approved"}
}

func transactCode(kind string) ledger.Code {
	switch kind {
	case "Withdrawal":
		return ledger.CodeATMCash
	case "PosCredit":
		return ledger.CodePOSCredit
	}
	return ledger.CodePurchase
}

// isATM reports whether a merchant category is that of a cash disbursement.
func isATM(category string) bool { return slices.Contains([]string{"6010", "6011"}, category) }

// outOfRange: the balance has no room for the amount.
const outOfRange = "The balance would be out of range"

// open books an authorisation under a new id. It returns nil if the balance would be out of range.
func (s *Simulator) open(l ledger.Locked, a *ledger.Account, in *Input, code ledger.Code) *Authorisation {
	booked, ok := l.Post(a, in.entry(code, signed(in.Kind, in.Amount), 0), s.clock.Now())
	if !ok {
		return nil
	}
	made := &Authorisation{
		ID: s.ids.Digits(12), Account: string(a.ID), Type: in.Kind, Amount: in.Amount, Merchant: in.Merchant, TransactionID: booked.ID, State: authorisationOpen,
	}
	s.approvals[made.ID] = made
	return made
}

// matching finds the authorisation of authorization_id if it is in the given state and has the same account,
// transaction_type and, unless MatchByID is set, merchant category, acceptor, terminal and acquirer.
func (s *Simulator) matching(_ ledger.View, in *Input, state State) *Authorisation {
	made := s.approvals[in.Authorisation]
	if made == nil || made.Account != in.Account || made.Type != in.Kind || made.State != state || (made.Merchant != in.Merchant && !s.with.MatchByID) {
		return nil
	}
	return made
}

// advice checks neither policy nor balance, since the purchase has taken place. A matched authorisation keeps its id
// and gets the new amount.
func (s *Simulator) advice(l ledger.Locked, a *ledger.Account, in *Input, made *Authorisation) (*Authorisation, string) {
	if made == nil {
		made = s.open(l, a, in, ledger.CodePurchase)
		if made == nil {
			return nil, outOfRange
		}
		return made, ""
	}
	booked, ok := l.PostAll(a, s.clock.Now(),
		in.entry(ledger.CodePurchaseReversal, made.Amount, made.TransactionID), in.entry(ledger.CodePurchase, in.Amount.Neg(), made.TransactionID))
	if !ok {
		return nil, outOfRange
	}
	made.Amount, made.TransactionID = in.Amount, booked[1].ID
	return made, ""
}

// reverse reverses the amount of the authorisation or a part of it. After a partial reversal, the rest stays open.
func (s *Simulator) reverse(l ledger.Locked, a *ledger.Account, in *Input, made *Authorisation) (*Authorisation, string) {
	switch {
	case made == nil || made.Type != "Purchase":
		return nil, "There is no matching purchase authorisation"
	case in.Amount.Sign() != 0 && in.Amount.Sign() != made.Amount.Sign(), in.Amount.Abs().Cmp(made.Amount.Abs()) > 0:
		return nil, "The amount is more than was authorised"
	}
	rest, ok := made.Amount.Minus(in.Amount)
	if !ok {
		return nil, outOfRange
	}
	if _, ok := l.Post(a, in.entry(ledger.CodePurchaseReversal, in.Amount, made.TransactionID), s.clock.Now()); !ok {
		return nil, outOfRange
	}
	if made.Amount = rest; rest.Sign() == 0 {
		made.State = authorisationReversed
	}
	return made, ""
}

// mistyped reports whether rule 2 of 4.6 refuses the transaction_type.
func (s *Simulator) mistyped(_ ledger.View, in *Input) bool {
	made := s.approvals[in.Authorisation]
	return made != nil && made.Account == in.Account && made.Type != in.Kind
}

// clear runs after the delay, and uses the state at that time. The balance and the account's status do not matter, since
// the merchant has been paid. But if the balance would leave the range of money, clear books nothing, and the
// authorisation stays open.
func (s *Simulator) clear(l ledger.Locked, a *ledger.Account, in *Input, at time.Time) {
	amount := signed(in.Kind, in.Amount)
	made := s.matching(l.View, in, authorisationOpen)
	if made == nil {
		forced, ok := l.Post(a, in.entry(ledger.CodeClearing, amount, 0), at)
		if ok && s.approvals[in.Authorisation] == nil && in.Authorisation != "" {
			// A forced posting can be reversed under its id.
			s.approvals[in.Authorisation] = &Authorisation{
				ID: in.Authorisation, Account: string(a.ID), Type: in.Kind, Amount: in.Amount, Merchant: in.Merchant,
				TransactionID: forced.ID, State: authorisationCleared,
			}
		}
		return
	}
	booked, ok := l.PostAll(a, at,
		in.entry(ledger.CodeClearingCreditBack, signed(made.Type, made.Amount).Neg(), made.TransactionID), in.entry(ledger.CodeClearing, amount, made.TransactionID))
	if ok {
		made.Amount, made.TransactionID, made.State = in.Amount, booked[1].ID, authorisationCleared
	}
}

// reverseClear runs after the delay. It books a clearing reversal, unless MatchedReversals is set and no clearing
// matches. A matching clearing becomes the parent.
func (s *Simulator) reverseClear(l ledger.Locked, a *ledger.Account, in *Input, at time.Time) {
	var parent int64
	made := s.matching(l.View, in, authorisationCleared)
	if made != nil {
		parent = made.TransactionID
	} else if s.with.MatchedReversals {
		return
	}
	_, ok := l.Post(a, in.entry(ledger.CodeClearingReversal, signed(in.Kind, in.Amount).Neg(), parent), at)
	if ok && made != nil {
		made.State = authorisationUncleared
	}
}

// Task is a pending clear or reverse_clear.
type Task struct {
	simulator *Simulator
	kind      string
	input     *Input
}

// Do carries out the task.
func (t *Task) Do(due time.Time) {
	l := t.simulator.ledger.Lock()
	defer l.Unlock()
	a := l.Account(t.input.Account)
	if t.kind == Clear {
		t.simulator.clear(l, a, t.input, due)
		return
	}
	t.simulator.reverseClear(l, a, t.input, due)
}
