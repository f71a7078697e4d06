package prepaidtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// authorisation is a simulated transaction that later ones can refer to.
type authorisation struct {
	id       string
	account  string
	kind     string
	amount   wire.Money // as asked for
	merchant merchant
	item     int64
	state    authorisationState
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
	merchant                                   merchant
}

// simulateBody is the answer; each operation leaves out what it does not have.
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
		b.String("acquirer_id", &in.merchant.acquirer)
		b.String("merchant_id", &in.merchant.acceptor)
		b.String("terminal_id", &in.merchant.terminal)
		b.String("mcc", &in.merchant.category).Form(wire.IsFourDigits, "must have four digits")
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

func (in *simulated) entry(code typeCode, amount wire.Money, parent int64) entry {
	return entry{code: code, amount: amount, parent: parent, merchant: in.merchant, reference: in.location}
}

// signed is the effect of a transaction on the balance.
func signed(kind string, amount wire.Money) wire.Money {
	if kind == "PosCredit" {
		return amount
	}
	return -amount
}

// usable checks rule 1 of 4.6. It needs s.mu.
func (s *Server) usable(in *simulated) (*account, string) {
	a := s.accounts[in.account]
	switch {
	case a == nil:
		return nil, "Invalid account"
	case a.status == "closed":
		return nil, "Account closed"
	case a.status != "active":
		return nil, "Account not active"
	case !a.plastic:
		return nil, "Plastic not enabled"
	}
	return a, ""
}

// simulateTransact answers POST /simulation/transact.
func (s *Server) simulateTransact(c *exchange.Call) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(true, false)); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := func(message string) exchange.Response {
		return c.JSON(http.StatusOK, simulateBody{Reference: new(""), Authorisation: new(""), Message: message})
	}
	a, problem := s.usable(&in)
	if problem != "" {
		return failed(problem)
	}
	amount := signed(in.kind, in.amount)
	switch {
	case in.kind == "Withdrawal" && !isATM(in.merchant.category):
		return failed("A withdrawal needs an ATM merchant category")
	case a.company.policy != nil && !a.company.policy.approves(in.merchant):
		return failed("Declined by policy")
	case !a.room(amount):
		return failed("Insufficient funds")
	}
	made := s.open(a, &in, transactCode(in.kind))
	if made == nil {
		return failed(outOfRange)
	}
	return c.JSON(http.StatusOK, simulateBody{
		Reference: new(strconv.FormatInt(made.item, 10)), Authorisation: &made.id, Success: true, Message: "Approved",
	})
}

func transactCode(kind string) typeCode {
	switch kind {
	case "Withdrawal":
		return codeATMCash
	case "PosCredit":
		return codePOSCredit
	}
	return codePurchase
}

// isATM knows the categories of cash disbursement.
func isATM(category string) bool { return slices.Contains([]string{"6010", "6011"}, category) }

// outOfRange is for amounts that the balance has no room for.
const outOfRange = "The balance would be out of range"

// open books an authorisation under a new id; nil when the range of money does not hold it. It needs s.mu.
func (s *Server) open(a *account, in *simulated, code typeCode) *authorisation {
	booked, ok := s.post(a, in.entry(code, signed(in.kind, in.amount), 0), s.clock.Now())
	if !ok {
		return nil
	}
	made := &authorisation{
		id: s.ids.Digits(12), account: a.id, kind: in.kind, amount: in.amount, merchant: in.merchant, item: booked.id,
	}
	s.approvals[made.id] = made
	return made
}

// matching finds an authorisation of the same account, transaction_type and merchant category, acceptor,
// terminal and acquirer, in one of the states. It needs s.mu.
func (s *Server) matching(in *simulated, state authorisationState) *authorisation {
	made := s.approvals[in.authorisation]
	if made == nil || made.account != in.account || made.kind != in.kind || made.merchant != in.merchant || made.state != state {
		return nil
	}
	return made
}

// simulateAdvice answers POST /simulation/advice. An advice is not asked of the policy or the balance: the
// purchase has taken place. A matched authorisation keeps its id with the new amount.
func (s *Server) simulateAdvice(c *exchange.Call) exchange.Response {
	return s.follow(c, true, func(a *account, in *simulated, made *authorisation) (*authorisation, string) {
		if made == nil {
			made = s.open(a, in, codePurchase)
			if made == nil {
				return nil, outOfRange
			}
			return made, ""
		}
		booked, ok := s.postAll(a, s.clock.Now(),
			in.entry(codePurchaseReversal, made.amount, made.item), in.entry(codePurchase, -in.amount, made.item))
		if !ok {
			return nil, outOfRange
		}
		made.amount, made.item = in.amount, booked[1].id
		return made, ""
	})
}

// simulateReverse answers POST /simulation/reverse. A smaller amount reverses a part, and the rest stays open.
func (s *Server) simulateReverse(c *exchange.Call) exchange.Response {
	return s.follow(c, false, func(a *account, in *simulated, made *authorisation) (*authorisation, string) {
		switch {
		case made == nil || made.kind != "Purchase":
			return nil, "There is no matching purchase authorisation"
		case in.amount != 0 && (in.amount < 0) != (made.amount < 0), max(in.amount, -in.amount) > max(made.amount, -made.amount):
			return nil, "The amount is more than was authorised"
		}
		if _, ok := s.post(a, in.entry(codePurchaseReversal, in.amount, made.item), s.clock.Now()); !ok {
			return nil, outOfRange
		}
		if made.amount -= in.amount; made.amount == 0 {
			made.state = authorisationReversed
		}
		return made, ""
	})
}

// follow carries out what refers to an authorisation, which is nil when none matches.
func (s *Server) follow(c *exchange.Call, advice bool, effect func(*account, *simulated, *authorisation) (*authorisation, string)) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(true, true)); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, problem := s.usable(&in)
	switch {
	case problem != "":
	case advice && in.kind != "Purchase":
		problem = "An advice is for purchases"
	case s.mistyped(&in):
		problem = "The transaction type is not that of the authorisation"
	}
	var made *authorisation
	if problem == "" {
		made, problem = effect(a, &in, s.matching(&in, authorisationOpen))
	}
	if problem != "" {
		return c.JSON(http.StatusOK, simulateBody{Authorisation: new(""), Message: problem})
	}
	return c.JSON(http.StatusOK, simulateBody{Authorisation: &made.id, Success: true, Message: "Approved"})
}

// mistyped holds rule 2 of 4.6. It needs s.mu.
func (s *Server) mistyped(in *simulated) bool {
	made := s.approvals[in.authorisation]
	return made != nil && made.account == in.account && made.kind != in.kind
}

// simulateClear answers POST /simulation/clear. What it finds is decided when it takes effect. A clearing is
// booked whatever the balance and, by then, the account's status: the merchant has been paid. What the range of
// money does not hold is not booked, and the authorisation stays open.
func (s *Server) simulateClear(c *exchange.Call) exchange.Response {
	return s.later(c, jobClear)
}

// clear needs s.mu.
func (s *Server) clear(a *account, in *simulated, at time.Time) {
	amount := signed(in.kind, in.amount)
	made := s.matching(in, authorisationOpen)
	if made == nil {
		forced, ok := s.post(a, in.entry(codeClearing, amount, 0), at)
		if ok && s.approvals[in.authorisation] == nil && in.authorisation != "" {
			// A forced posting can be reversed under the id it came with.
			s.approvals[in.authorisation] = &authorisation{
				id: in.authorisation, account: a.id, kind: in.kind, amount: in.amount, merchant: in.merchant,
				item: forced.id, state: authorisationCleared,
			}
		}
		return
	}
	booked, ok := s.postAll(a, at,
		in.entry(codeClearingCreditBack, -signed(made.kind, made.amount), made.item), in.entry(codeClearing, amount, made.item))
	if ok {
		made.amount, made.item, made.state = in.amount, booked[1].id, authorisationCleared
	}
}

// simulateReverseClear answers POST /simulation/reverse_clear. It books a clearing reversal whether there is a
// clearing or not, unless MatchedReversalsOnly is set; a matching clearing becomes its parent.
func (s *Server) simulateReverseClear(c *exchange.Call) exchange.Response {
	return s.later(c, jobReverseClear)
}

// reverseClear needs s.mu.
func (s *Server) reverseClear(a *account, in *simulated, at time.Time) {
	var parent int64
	made := s.matching(in, authorisationCleared)
	if made != nil {
		parent = made.item
	} else if s.settings.matchedReversals {
		return
	}
	_, ok := s.post(a, in.entry(codeClearingReversal, -signed(in.kind, in.amount), parent), at)
	if ok && made != nil {
		made.state = authorisationUncleared
	}
}

// later accepts a request now and carries it out after the simulation delay.
func (s *Server) later(c *exchange.Call, effect jobKind) exchange.Response {
	var in simulated
	if refusal := c.BindBody(in.bind(false, true)); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, problem := s.usable(&in); problem != "" {
		return c.JSON(http.StatusOK, simulateBody{Message: problem})
	}
	if s.mistyped(&in) {
		return c.JSON(http.StatusOK, simulateBody{Message: "The transaction type is not that of the authorisation"})
	}
	s.clock.After(s.settings.simulationDelay, &job{server: s, kind: effect, input: &in})
	return c.JSON(http.StatusOK, simulateBody{Success: true, Message: "Accepted"})
}
