package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// customers post orders, and post each again until they know what became of it.
type customers struct {
	address   string // of POST /orders
	run       string // prefix of the orders' IDs
	payees    []prepaid.AccountID
	strangers []prepaid.AccountID // accounts that may not be paid
	cents     func(n int) int64
	reference string
	most      int // orders; 0 for as many as there is time for
	pause     time.Duration
	client    *http.Client

	mu       sync.Mutex
	next     int
	stopping bool
	accepted map[string]order // by ID: the response said that it will be paid
	refused  map[string]bool  // the response said that it will not
	again    int              // posts of an order that was posted before
}

// customersAtOnce is enough for some to post while others wait for Postgres or the web process.
const customersAtOnce = 6

// shop posts orders until there are enough, or until stop. It returns an error for a response that nobody expects.
func (c *customers) shop(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer c.client.CloseIdleConnections()
	tick := time.NewTicker(c.pause)
	defer tick.Stop()
	var all sync.WaitGroup
	for range customersAtOnce {
		all.Go(func() {
			for {
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
				n, more := c.take()
				if !more {
					return
				}
				if err := c.place(ctx, n); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (c *customers) take() (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping || c.most > 0 && c.next >= c.most {
		return 0, false
	}
	c.next++
	return c.next, true
}

// stop lets shop return when the orders at hand are placed.
func (c *customers) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
}

// place posts the order n until the response says what became of it. One order in ten is for a stranger and is rolled back,
// one in twelve is posted twice at once, and one in fifteen by a customer who leaves before the response.
func (c *customers) place(ctx context.Context, n int) error {
	o := order{
		ID: fmt.Sprintf("%s-%06d", c.run, n), AccountID: c.payees[n%len(c.payees)], Amount: prepaid.Cents(c.cents(n)),
		Reference: fmt.Sprintf("%s %d", c.reference, n),
	}
	if n%10 == 7 && len(c.strangers) > 0 {
		o.AccountID = c.strangers[n%len(c.strangers)]
	}
	if n%15 == 4 {
		hasty, leave := context.WithTimeout(ctx, 2*time.Millisecond)
		_, _ = c.post(hasty, o) // the order may have been taken, or not
		leave()
		c.repeated()
	}
	if n%12 == 3 {
		var twin sync.WaitGroup
		defer twin.Wait()
		twin.Go(func() { _, _ = c.post(ctx, o) })
		c.repeated()
	}
	for {
		status, err := c.post(ctx, o)
		switch {
		case err == nil && status == http.StatusAccepted, err == nil && status == http.StatusUnprocessableEntity:
			c.learn(o, status == http.StatusAccepted)
			return nil
		case err == nil && status != http.StatusServiceUnavailable:
			return fmt.Errorf("an order got status %d", status)
		}
		if sleep(ctx, 200*time.Millisecond); ctx.Err() != nil {
			return ctx.Err()
		}
		c.repeated()
	}
}

func (c *customers) repeated() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.again++
}

func (c *customers) learn(o order, accepted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if accepted {
		c.accepted[o.ID] = o
		return
	}
	c.refused[o.ID] = true
}

func (c *customers) post(ctx context.Context, o order) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body, err := json.Marshal(o)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusAccepted {
		return response.StatusCode, nil
	}
	var a accepted
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return 0, err
	}
	if a.ID != o.ID {
		return 0, errors.New("the response is about another order")
	}
	return response.StatusCode, nil
}

// counts are for the view: orders taken, rolled back, and posted again.
func (c *customers) counts() (taken, refused, again int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.accepted), len(c.refused), c.again
}
