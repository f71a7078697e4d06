package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// shop is a web application that loses its first response to each order and rejects the second post.
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

func testCustomers(t *testing.T, s *shop) (c *customers, address string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return newCustomers([]prepaid.AccountID{"a", "b"}, "stranger"), server.URL
}

func TestCustomersPostUntilTheyKnow(t *testing.T) {
	t.Parallel()
	s := &shop{posts: make(map[string]int), orders: make(map[string]order)}
	c, address := testCustomers(t, s)
	require.NoError(t, c.shop(t.Context(), address, 30))
	require.Len(t, c.accepted, 27)
	require.Equal(t, map[string]bool{"000007": true, "000017": true, "000027": true}, c.refused)
	require.GreaterOrEqual(t, c.again.Load(), int64(27), "most got a 503")
	require.Equal(t, s.orders, c.accepted)
	require.Equal(t, order{ID: "000010", AccountID: "a", Amount: prepaid.MustAmount("13.70"), Reference: "INVOICE 10"}, c.accepted["000010"])
}

func TestCustomersGetSomethingElse(t *testing.T) {
	t.Parallel()
	c, address := testCustomers(t, &shop{posts: make(map[string]int), status: http.StatusTeapot})
	require.EqualError(t, c.shop(t.Context(), address, 30), "an order got status 418")
}
