package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	madeUpCards = 32
	madeUpDays  = 230 // somewhat more than half a year, so that the window has an opening balance
)

// emulate starts an emulator and gives its company a float account and cards with months of history.
func emulate(opts *options, now time.Time) (*source, error) {
	emulator, err := prepaidtest.Start()
	if err != nil {
		return nil, err
	}
	opts.company = prepaidtest.DefaultCompany
	var document bytes.Buffer
	if err = json.NewEncoder(&document).Encode(makeUp(now)); err == nil {
		err = emulator.Load(&document)
	}
	if err != nil {
		_ = emulator.Close()
		return nil, err
	}
	return &source{client: emulator.Client(), emulator: emulator}, nil
}

// madeUp is a document for prepaidtest.Server.Load; docs/emulator-seed.md has its members.
type madeUp struct {
	Accounts []*madeUpAccount `json:"accounts"`
}

type madeUpAccount struct {
	ID           string       `json:"account_id"`
	Status       string       `json:"status,omitzero"`
	Transactions []madeUpItem `json:"transactions"`

	balance  prepaid.Amount
	pending  []prepaid.Amount // authorised, to be cleared the next morning
	pay      int64            // in whole dollars every second Monday
	appetite float64          // how much it spends
}

type madeUpItem struct {
	Type       prepaid.TransactionType `json:"type"`
	Amount     prepaid.Amount          `json:"amount"`
	Fee        prepaid.Amount          `json:"fee_amount,omitzero"`
	OccurredAt time.Time               `json:"occurred_at"`
}

const (
	cardToCard = prepaid.TransactionType("2951") // the emulator's own code
)

// fiction generates history, the same in each run except for the date. Outgoing amounts are negative.
type fiction struct {
	random *rand.Rand
	now    time.Time
	float  *madeUpAccount
	cards  []*madeUpAccount
}

func makeUp(now time.Time) madeUp {
	f := fiction{
		random: rand.New(rand.NewPCG(4, 2)), now: now.UTC().Truncate(time.Second), //nolint:gosec // fiction, no secret
		float: &madeUpAccount{ID: "float"},
	}
	for n := range madeUpCards {
		f.cards = append(f.cards, &madeUpAccount{
			ID: fmt.Sprintf("card-%02d", n+1), pay: 120 + 10*f.random.Int64N(40), appetite: 0.5 + f.random.Float64(),
		})
	}
	today := f.now.Truncate(24 * time.Hour)
	for n := range madeUpDays + 1 {
		f.day(n, today.AddDate(0, 0, n-madeUpDays))
	}
	f.cards[madeUpCards-1].Status = "closed" // it was paid only once
	return madeUp{Accounts: append([]*madeUpAccount{f.float}, f.cards...)}
}

// day simulates one day: authorised amounts clear, the float is filled and pays out, cards are used.
func (f *fiction) day(n int, date time.Time) {
	for i, card := range f.cards {
		f.clear(card, date.Add(5*time.Hour+time.Duration(i)*time.Second))
	}
	payday := date.Weekday() == time.Monday
	if n == 0 || payday && (n%28 < 7 || f.float.balance.Compare(prepaid.Cents(800_000)) < 0) {
		f.book(f.float, prepaid.TransactionTypeLoad, prepaid.Cents(2_000_000), prepaid.Amount{}, date.Add(6*time.Hour))
	}
	for i, card := range f.cards[:madeUpCards-1] {
		if payday && (n/7+i)%2 == 0 && i <= 6+n/4 { // every other Monday; the program grows
			f.pay(card, date.Add(7*time.Hour+time.Duration(i)*time.Second))
		}
	}
	if n == 1 {
		f.pay(f.cards[madeUpCards-1], date.Add(8*time.Hour))
	}
	for _, card := range f.cards {
		f.shop(card, date)
	}
}

// pay transfers a card's pay from the float to the card.
func (f *fiction) pay(card *madeUpAccount, at time.Time) {
	amount := prepaid.Cents(100 * card.pay)
	f.book(f.float, cardToCard, amount.Neg(), prepaid.Amount{}, at)
	f.book(card, prepaid.TransactionTypeLoad, amount, prepaid.Amount{}, at)
}

// shop buys up to three times a day, sometimes draws cash, for a fee, and more rarely refunds something.
func (f *fiction) shop(card *madeUpAccount, date time.Time) {
	at := date.Add(8 * time.Hour)
	for range 3 {
		at = at.Add(time.Duration(1+f.random.IntN(14_000)) * time.Second)
		price := prepaid.Cents(300 + int64(1600*card.appetite*f.random.ExpFloat64()))
		const cash, fee = 6000, 250
		switch chance := f.random.Float64() / card.appetite; {
		case chance < 0.008 && f.has(card, prepaid.Cents(cash+fee)):
			f.book(card, prepaid.TransactionTypeATMCashAuthorisation, prepaid.Cents(-cash), prepaid.Cents(fee), at)
		case chance < 0.011:
			f.book(card, prepaid.TransactionTypePOSCredit, price, prepaid.Amount{}, at)
		case chance < 0.29 && f.has(card, price) && f.book(card, prepaid.TransactionTypePurchaseAuthorisation, price.Neg(), prepaid.Amount{}, at):
			card.pending = append(card.pending, price)
		}
	}
}

// clear reverses authorised amounts and takes the paid ones: sometimes slightly less.
func (f *fiction) clear(card *madeUpAccount, at time.Time) {
	for _, authorised := range card.pending {
		paid := authorised
		if cents, _ := authorised.Cents(); f.random.IntN(20) == 0 {
			paid = prepaid.Cents((9*cents + 5) / 10)
		}
		f.book(card, prepaid.TransactionTypeClearingCreditBack, authorised, prepaid.Amount{}, at)
		f.book(card, prepaid.TransactionTypeClearing, paid.Neg(), prepaid.Amount{}, at)
	}
	card.pending = card.pending[:0]
}

func (f *fiction) has(card *madeUpAccount, amount prepaid.Amount) bool {
	return card.balance.Compare(amount) >= 0
}

// book returns false for an event that has not happened yet.
func (f *fiction) book(a *madeUpAccount, code prepaid.TransactionType, amount, fee prepaid.Amount, at time.Time) bool {
	if at.After(f.now) {
		return false
	}
	change, _ := amount.Sub(fee) // of a few dollars each
	a.balance, _ = a.balance.Add(change)
	a.Transactions = append(a.Transactions, madeUpItem{code, amount, fee, at})
	return true
}
