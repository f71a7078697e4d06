package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// customers post each order until a response says whether it is accepted.
type customers struct {
	payees   []prepaid.AccountID
	stranger prepaid.AccountID // an account that no order may pay
	client   *http.Client

	mu       sync.Mutex
	accepted map[string]order // by ID; the response promised to pay the order
	refused  map[string]bool  // by ID; the response refused the order
	again    int              // repeated posts of an order
}

func newCustomers(payees []prepaid.AccountID, stranger prepaid.AccountID) *customers {
	return &customers{
		payees: payees, stranger: stranger, client: &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second},
		accepted: make(map[string]order), refused: make(map[string]bool),
	}
}

// shop posts the given number of orders to address. It returns an error after an unexpected response.
func (c *customers) shop(ctx context.Context, address string, orders int) error {
	defer c.client.CloseIdleConnections()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	numbers := make(chan int)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for n := range numbers {
				if err := c.place(ctx, address, n); err != nil {
					fail(err)
				}
			}
		})
	}
	for n := range orders {
		numbers <- n
	}
	close(numbers)
	all.Wait()
	return context.Cause(ctx)
}

// place posts order n until a response says whether the order was accepted. One order in ten is for a stranger and is rolled
// back. For one order in twelve the customer leaves before the response and posts the order again.
func (c *customers) place(ctx context.Context, address string, n int) error {
	o := order{
		ID: fmt.Sprintf("%06d", n), AccountID: c.payees[n%len(c.payees)], Amount: prepaid.Cents(int64(1000 + n*37%9000)),
		Reference: fmt.Sprintf("INVOICE %d", n),
	}
	if n%10 == 7 {
		o.AccountID = c.stranger
	}
	if n%12 == 3 {
		hasty, leave := context.WithTimeout(ctx, 2*time.Millisecond)
		_, _ = c.post(hasty, address, o) // whether the order was taken is unknown
		leave()
		c.count(func() { c.again++ })
	}
	for ; ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
		status, err := c.post(ctx, address, o)
		switch {
		case err != nil || status == http.StatusServiceUnavailable:
			c.count(func() { c.again++ })
		case status == http.StatusAccepted:
			c.count(func() { c.accepted[o.ID] = o })
			return nil
		case status == http.StatusUnprocessableEntity:
			c.count(func() { c.refused[o.ID] = true })
			return nil
		default:
			return fmt.Errorf("an order got status %d", status)
		}
	}
	return context.Cause(ctx)
}

func (c *customers) count(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *customers) post(ctx context.Context, address string, o order) (status int, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
