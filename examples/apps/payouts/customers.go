package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

// customers post each order until a response says whether it is accepted.
type customers struct {
	payees   []prepaid.AccountID
	stranger prepaid.AccountID // an account that no order may pay
	client   *http.Client

	again    atomic.Int64 // repeated posts
	mu       sync.Mutex
	accepted map[string]order // by ID; the response promised to pay the order
	refused  map[string]bool  // by ID; the response refused the order
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
	var all sync.WaitGroup
	for first := range 6 {
		all.Go(func() {
			for n := first; n < orders; n += 6 {
				if err := c.place(ctx, address, n); err != nil {
					fail(err)
				}
			}
		})
	}
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
		c.again.Add(1)
	}
	for ; ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
		status, err := c.post(ctx, address, o)
		if err == nil && status != http.StatusServiceUnavailable {
			return c.record(o, status)
		}
		c.again.Add(1)
	}
	return context.Cause(ctx)
}

func (c *customers) record(o order, status int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch status {
	case http.StatusAccepted:
		c.accepted[o.ID] = o
	case http.StatusUnprocessableEntity:
		c.refused[o.ID] = true
	default:
		return fmt.Errorf("an order got status %d", status)
	}
	return nil
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
