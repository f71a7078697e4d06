package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	demoCards = 32
	demoDays  = 230 // more than half a year, so that the window has an opening balance
)

// program is a document for prepaidtest.Server.Load; docs/emulator-seed.md has its members.
type program struct {
	Accounts []*account `json:"accounts"`
}

type account struct {
	ID           string `json:"account_id"`
	Transactions []item `json:"transactions"`
}

type item struct {
	Type       prepaid.TransactionType `json:"type"`
	Amount     prepaid.Amount          `json:"amount"`
	Fee        prepaid.Amount          `json:"fee_amount,omitzero"`
	OccurredAt time.Time               `json:"occurred_at"`
}

func (a *account) book(at time.Time, code prepaid.TransactionType, cents, fee int64) {
	a.Transactions = append(a.Transactions, item{code, prepaid.Cents(cents), prepaid.Cents(fee), at})
}

// emulate starts an emulator and gives its company a float account and cards with months of history.
func emulate(opts *options, now time.Time) (*prepaid.Client, func() error, error) {
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return nil, nil, err
	}
	opts.company = prepaidtest.DefaultCompany
	var document bytes.Buffer
	if err = json.NewEncoder(&document).Encode(fictional(now)); err == nil {
		err = emulator.Load(&document)
	}
	if err != nil {
		return nil, nil, errors.Join(err, emulator.Close())
	}
	client := emulator.Client()
	return client, func() error { return errors.Join(client.Close(), emulator.Close()) }, nil
}

// fictional makes history up to yesterday: each card is paid every two weeks from the float account, buys each day, and draws
// cash for a fee once in between. A purchase is authorised, then reversed and cleared the next morning.
func fictional(now time.Time) program {
	const cardToCard = prepaid.TransactionType("2951") // the emulator's own code
	float, cards := &account{ID: "float"}, make([]*account, demoCards)
	begin := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -demoDays)
	float.book(begin, prepaid.TransactionTypeLoad, 50_000_000, 0)
	for n := range demoDays {
		for i := range cards {
			if n == 0 {
				cards[i] = &account{ID: fmt.Sprintf("card-%02d", i+1)}
			}
			at := begin.AddDate(0, 0, n).Add(6*time.Hour + time.Duration(i)*time.Second)
			price := func(day int) int64 { return int64(300 + (day*37+i*101)%1300) }
			if day := n - i%14; day > 0 { // each card starts on another day
				cards[i].book(at, prepaid.TransactionTypeClearingCreditBack, price(n-1), 0)
				cards[i].book(at, prepaid.TransactionTypeClearing, -price(n-1), 0)
			}
			switch day := n - i%14; {
			case day < 0:
				continue
			case day%14 == 0:
				float.book(at, cardToCard, -30_000, 0)
				cards[i].book(at, prepaid.TransactionTypeLoad, 30_000, 0)
			case day%14 == 7:
				cards[i].book(at, prepaid.TransactionTypeATMCashAuthorisation, -6000, 250)
			}
			cards[i].book(at.Add(time.Hour), prepaid.TransactionTypePurchaseAuthorisation, -price(n), 0)
		}
	}
	return program{Accounts: append([]*account{float}, cards...)}
}
