package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// shop is a web application that loses the first response to each order, and is away for the second.
type shop struct {
	mu     sync.Mutex
	posts  map[string]int
	orders map[string]order
	status int // of every response, if not 0
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o order
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts[o.ID]++
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case o.AccountID == "stranger":
		w.WriteHeader(http.StatusUnprocessableEntity)
	case s.posts[o.ID] == 1:
		s.orders[o.ID] = o
		panic(http.ErrAbortHandler)
	case s.posts[o.ID] == 2:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(accepted{ID: o.ID})
	}
}

func testCustomers(t *testing.T, s *shop) *customers {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &customers{
		address: server.URL, run: "run", payees: []prepaid.AccountID{"a", "b"}, strangers: []prepaid.AccountID{"stranger"}, most: 30,
		cents: func(n int) int64 { return int64(n) }, reference: "INVOICE", pause: time.Millisecond,
		client: &http.Client{Transport: &http.Transport{}}, accepted: make(map[string]order), refused: make(map[string]bool),
	}
}

func TestCustomersPostUntilTheyKnow(t *testing.T) {
	t.Parallel()
	s := &shop{posts: make(map[string]int), orders: make(map[string]order)}
	c := testCustomers(t, s)
	require.NoError(t, c.shop(t.Context()))
	taken, refused, again := c.counts()
	require.Equal(t, 27, taken)
	require.Equal(t, 3, refused, "7, 17 and 27")
	require.GreaterOrEqual(t, again, 27, "most got a 503")
	require.Equal(t, s.orders, c.accepted)
	require.Equal(t, order{ID: "run-000030", AccountID: "a", Amount: prepaid.Cents(30), Reference: "INVOICE 30"}, c.accepted["run-000030"])
}

func TestCustomersStop(t *testing.T) {
	t.Parallel()
	c := testCustomers(t, &shop{posts: make(map[string]int), orders: make(map[string]order)})
	c.most = 0
	ended := make(chan error, 1)
	go func() { ended <- c.shop(t.Context()) }()
	require.Eventually(t, func() bool { taken, _, _ := c.counts(); return taken > 10 }, 10*time.Second, time.Millisecond)
	c.stop()
	require.NoError(t, <-ended)
}

func TestCustomersGetSomethingElse(t *testing.T) {
	t.Parallel()
	c := testCustomers(t, &shop{posts: make(map[string]int), status: http.StatusTeapot})
	require.EqualError(t, c.shop(t.Context()), "an order got status 418")
}
