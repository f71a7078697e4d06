// Package factory makes clients for others.
package factory

import (
	"context"
	"sync"

	"github.com/cardprograms/prepaid"
)

func New() (*prepaid.Client, error) { // want New:"returns a new client"
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return prepaid.NewClient(config)
}

func For(config prepaid.Config) *prepaid.Client { // want For:"returns a new client"
	client, err := prepaid.NewClient(config)
	if err != nil {
		panic(err)
	}
	return client
}

var (
	once   sync.Once
	shared *prepaid.Client
)

// Shared makes one, the first time.
func Shared() *prepaid.Client {
	once.Do(func() {
		client, _ := prepaid.NewClient(prepaid.Config{})
		shared = client
	})
	return shared
}

func Balance(ctx context.Context, id prepaid.AccountID) (prepaid.Amount, error) { // want Balance:"makes a client for each call"
	client, err := New()
	if err != nil {
		return prepaid.Amount{}, err
	}
	defer client.Close()
	account, err := client.Accounts.Get(ctx, id)
	if err != nil {
		return prepaid.Amount{}, err
	}
	return account.Balance, nil
}

type Payer struct{ accounts *prepaid.AccountsService }

func NewPayer(client *prepaid.Client) *Payer { return &Payer{accounts: client.Accounts} } // want NewPayer:"uses clients"

func (p *Payer) Pay(ctx context.Context, params prepaid.TransferParams) error { // want Pay:"uses clients"
	_, err := p.accounts.Transfer(ctx, "a", params)
	return err
}
