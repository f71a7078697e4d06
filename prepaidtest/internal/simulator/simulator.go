// Package simulator carries out the simulated card transactions.
//
// Simulator keeps the authorisations that later transactions refer to, under the lock of the ledger. Clearings and their
// reversals take effect after a delay: until then they are tasks of the clock.
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

// authorisation is a simulated transaction that later ones can refer to.
type authorisation struct {
	id       string
	account  string
	kind     string
	amount   wire.Money // as asked for
	merchant ledger.Merchant
	item     int64
	state    authorisationState
}

// Simulator carries out the simulated transactions. The ledger's lock guards it.
type Simulator struct {
	ledger    *ledger.Ledger
	clock     *clock.Clock
	ids       *ids.Source
	policies  *policy.Policies
	with      Options
	approvals map[string]*authorisation
}

// Options are what the reference leaves open about the simulator.
type Options struct {
	Delay            time.Duration // of clear and reverse_clear
	MatchedReversals bool          // reverse_clear books nothing without a matching clearing
}

// New makes the simulator.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, policies *policy.Policies, with Options) *Simulator {
	return &Simulator{ledger: books, clock: c, ids: from, policies: policies, with: with, approvals: make(map[string]*authorisation)}
}

type authorisationState int

const (
	authorisationOpen authorisationState = iota
	authorisationReversed
	authorisationCleared
	authorisationUncleared // cleared, and the clearing reversed
)

// simulated is the input of the five operations (2.15).
type simulated struct {
	kind, account, authorisation               string
	bankName, location, locationCode, currency string
	amount                                     wire.Money
	merchant                                   ledger.Merchant
}

// simulateBody is the response; each operation leaves out what it does not have.
type simulateBody struct {
	Reference     *string `json:"transaction_reference,omitempty"`
	Authorisation *string `json:"authorization_id,omitempty"`
	Success       bool    `json:"success"`
	Message       string  `json:"message"`
}

// bind reads the members. 2.15 marks none as required; what no transaction can be without is required here. Located and
// authorised say whether the operation has the place and authorization_id.
func (in *simulated) bind(located, authorised bool) func(*wire.Reader) {
	return func(b *wire.Reader) {
		b.String("transaction_type", &in.kind).Required().OneOf("Purchase", "Withdrawal", "PosCredit")
		b.String("account_id", &in.account).Required()
		b.Decimal("amount", &in.amount, true).Required()
		b.String("acquirer_id", &in.merchant.Acquirer)
		b.String("merchant_id", &in.merchant.Acceptor)
		b.String("terminal_id", &in.merchant.Terminal)
		b.String("mcc", &in.merchant.Category).Form(wire.IsFourDigits, "must have four digits")
		if located {
			b.String("bank_name", &in.bankName)
			b.String("location", &in.location)
			b.String("location_code", &in.locationCode)
			b.String("currency_code", &in.currency)
		}
		if authorised {
			b.String("authorization_id", &in.authorisation)
		}
	}
}

func (in *simulated) entry(code ledger.Code, amount wire.Money, parent int64) ledger.Entry {
	return ledger.Entry{Code: code, Amount: amount, Parent: parent, Merchant: in.merchant, Reference: in.location}
}

// signed is the effect of a transaction on the balance.
func signed(kind string, amount wire.Money) wire.Money {
	if kind == "PosCredit" {
		return amount
	}
	return -amount
}

// usable checks rule 1 of 4.6.
func (s *Simulator) usable(l ledger.View, in *simulated) (*ledger.Account, string) {
	a := l.Account(in.account)
	switch {
	case a == nil:
		return nil, "Invalid account"
	case a.Status == "closed":
		return nil, "Account closed"
	case a.Status != "active":
		return nil, "Account not active"
	case !a.Plastic:
		return nil, "Plastic not enabled"
	}
	return a, ""
}

// Transact handles POST /simulation/transact.
func (s *Simulator) Transact(c *exchange.Call) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(true, false)); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	failed := func(message string) exchange.Response {
		return c.JSON(http.StatusOK, simulateBody{Reference: new(""), Authorisation: new(""), Message: message})
	}
	a, problem := s.usable(l.View, &in)
	if problem != "" {
		return failed(problem)
	}
	amount := signed(in.kind, in.amount)
	switch {
	case in.kind == "Withdrawal" && !isATM(in.merchant.Category):
		return failed("A withdrawal needs an ATM merchant category")
	case !s.policies.Approve(l.View, a.Company.ID, in.merchant):
		return failed("Declined by policy")
	case !a.Room(amount):
		return failed("Insufficient funds")
	}
	made := s.open(l, a, &in, transactCode(in.kind))
	if made == nil {
		return failed(outOfRange)
	}
	return c.JSON(http.StatusOK, simulateBody{
		Reference: new(strconv.FormatInt(made.item, 10)), Authorisation: &made.id, Success: true, Message: "Approved",
	})
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

// isATM knows the categories of cash disbursement.
func isATM(category string) bool { return slices.Contains([]string{"6010", "6011"}, category) }

// outOfRange is for amounts that the balance has no room for.
const outOfRange = "The balance would be out of range"

// open books an authorisation under a new id; nil when the range of money does not hold it.
func (s *Simulator) open(l ledger.Locked, a *ledger.Account, in *simulated, code ledger.Code) *authorisation {
	booked, ok := l.Post(a, in.entry(code, signed(in.kind, in.amount), 0), s.clock.Now())
	if !ok {
		return nil
	}
	made := &authorisation{
		id: s.ids.Digits(12), account: a.ID, kind: in.kind, amount: in.amount, merchant: in.merchant, item: booked.ID,
	}
	s.approvals[made.id] = made
	return made
}

// matching finds an authorisation of the same account, transaction_type and merchant category, acceptor,
// terminal and acquirer, in one of the states.
func (s *Simulator) matching(_ ledger.View, in *simulated, state authorisationState) *authorisation {
	made := s.approvals[in.authorisation]
	if made == nil || made.account != in.account || made.kind != in.kind || made.merchant != in.merchant || made.state != state {
		return nil
	}
	return made
}

// Advice handles POST /simulation/advice. An advice is not asked of the policy or the balance: the
// purchase has taken place. A matched authorisation keeps its id with the new amount.
func (s *Simulator) Advice(c *exchange.Call) exchange.Response {
	return s.follow(c, true, func(l ledger.Locked, a *ledger.Account, in *simulated, made *authorisation) (*authorisation, string) {
		if made == nil {
			made = s.open(l, a, in, ledger.CodePurchase)
			if made == nil {
				return nil, outOfRange
			}
			return made, ""
		}
		booked, ok := l.PostAll(a, s.clock.Now(),
			in.entry(ledger.CodePurchaseReversal, made.amount, made.item), in.entry(ledger.CodePurchase, -in.amount, made.item))
		if !ok {
			return nil, outOfRange
		}
		made.amount, made.item = in.amount, booked[1].ID
		return made, ""
	})
}

// Reverse handles POST /simulation/reverse. A smaller amount reverses a part, and the rest stays open.
func (s *Simulator) Reverse(c *exchange.Call) exchange.Response {
	return s.follow(c, false, func(l ledger.Locked, a *ledger.Account, in *simulated, made *authorisation) (*authorisation, string) {
		switch {
		case made == nil || made.kind != "Purchase":
			return nil, "There is no matching purchase authorisation"
		case in.amount != 0 && (in.amount < 0) != (made.amount < 0), max(in.amount, -in.amount) > max(made.amount, -made.amount):
			return nil, "The amount is more than was authorised"
		}
		if _, ok := l.Post(a, in.entry(ledger.CodePurchaseReversal, in.amount, made.item), s.clock.Now()); !ok {
			return nil, outOfRange
		}
		if made.amount -= in.amount; made.amount == 0 {
			made.state = authorisationReversed
		}
		return made, ""
	})
}

// follow carries out what refers to an authorisation, which is nil when none matches.
func (s *Simulator) follow(c *exchange.Call, advice bool, effect func(ledger.Locked, *ledger.Account, *simulated, *authorisation) (*authorisation, string)) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(true, true)); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	a, problem := s.usable(l.View, &in)
	switch {
	case problem != "":
	case advice && in.kind != "Purchase":
		problem = "An advice is for purchases"
	case s.mistyped(l.View, &in):
		problem = "The transaction type is not that of the authorisation"
	}
	var made *authorisation
	if problem == "" {
		made, problem = effect(l, a, &in, s.matching(l.View, &in, authorisationOpen))
	}
	if problem != "" {
		return c.JSON(http.StatusOK, simulateBody{Authorisation: new(""), Message: problem})
	}
	return c.JSON(http.StatusOK, simulateBody{Authorisation: &made.id, Success: true, Message: "Approved"})
}

// mistyped holds rule 2 of 4.6.
func (s *Simulator) mistyped(_ ledger.View, in *simulated) bool {
	made := s.approvals[in.authorisation]
	return made != nil && made.account == in.account && made.kind != in.kind
}

// Clear handles POST /simulation/clear. What it finds is decided when it takes effect. A clearing is
// booked whatever the balance and, by then, the account's status: the merchant has been paid. What the range of
// money does not hold is not booked, and the authorisation stays open.
func (s *Simulator) Clear(c *exchange.Call) exchange.Response {
	return s.later(c, taskClear)
}

// clear takes effect after the delay.
func (s *Simulator) clear(l ledger.Locked, a *ledger.Account, in *simulated, at time.Time) {
	amount := signed(in.kind, in.amount)
	made := s.matching(l.View, in, authorisationOpen)
	if made == nil {
		forced, ok := l.Post(a, in.entry(ledger.CodeClearing, amount, 0), at)
		if ok && s.approvals[in.authorisation] == nil && in.authorisation != "" {
			// A forced posting can be reversed under the id it came with.
			s.approvals[in.authorisation] = &authorisation{
				id: in.authorisation, account: a.ID, kind: in.kind, amount: in.amount, merchant: in.merchant,
				item: forced.ID, state: authorisationCleared,
			}
		}
		return
	}
	booked, ok := l.PostAll(a, at,
		in.entry(ledger.CodeClearingCreditBack, -signed(made.kind, made.amount), made.item), in.entry(ledger.CodeClearing, amount, made.item))
	if ok {
		made.amount, made.item, made.state = in.amount, booked[1].ID, authorisationCleared
	}
}

// ReverseClear handles POST /simulation/reverse_clear. It books a clearing reversal whether there is a
// clearing or not, unless MatchedReversalsOnly is set; a matching clearing becomes its parent.
func (s *Simulator) ReverseClear(c *exchange.Call) exchange.Response {
	return s.later(c, taskReverseClear)
}

// reverseClear takes effect after the delay.
func (s *Simulator) reverseClear(l ledger.Locked, a *ledger.Account, in *simulated, at time.Time) {
	var parent int64
	made := s.matching(l.View, in, authorisationCleared)
	if made != nil {
		parent = made.item
	} else if s.with.MatchedReversals {
		return
	}
	_, ok := l.Post(a, in.entry(ledger.CodeClearingReversal, -signed(in.kind, in.amount), parent), at)
	if ok && made != nil {
		made.state = authorisationUncleared
	}
}

// later accepts a request now and carries it out after the simulation delay.
func (s *Simulator) later(c *exchange.Call, effect string) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(false, true)); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	if _, problem := s.usable(l.View, &in); problem != "" {
		return c.JSON(http.StatusOK, simulateBody{Message: problem})
	}
	if s.mistyped(l.View, &in) {
		return c.JSON(http.StatusOK, simulateBody{Message: "The transaction type is not that of the authorisation"})
	}
	s.clock.After(s.with.Delay, &Task{simulator: s, kind: effect, input: &in})
	return c.JSON(http.StatusOK, simulateBody{Success: true, Message: "Accepted"})
}

// The kinds of tasks.
const (
	taskClear        = "clear"
	taskReverseClear = "reverse_clear"
)

// Task is a clear or reverse_clear that has not taken effect yet.
type Task struct {
	simulator *Simulator
	kind      string
	input     *simulated
}

// Do lets it take effect.
func (t *Task) Do(due time.Time) {
	l := t.simulator.ledger.Lock()
	defer l.Unlock()
	a := l.Account(t.input.account)
	if t.kind == taskClear {
		t.simulator.clear(l, a, t.input, due)
		return
	}
	t.simulator.reverseClear(l, a, t.input, due)
}
