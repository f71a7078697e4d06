package transfers

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// Running is a transfer or direct entry that has arrived and is not carried out yet. The wait is in real time, and so are
// the fields Since and Until.
type Running struct {
	Operation, RequestID, Account, Amount string
	Arrived                               time.Time // on the server's clock
	Since, Until                          time.Time
}

// inFlight are the requests that a fault keeps running. All others take no time.
type inFlight struct {
	mu   sync.Mutex
	list []*Running
}

// Hold records that a request will be carried out after d of real time; end removes the record. Hold ignores
// operations other than transfers and direct entries.
func (s *Transfers) Hold(c *exchange.Call, d time.Duration) (end func()) {
	if name := c.Route.Title(); name != transferOperation && name != directEntryOperation {
		return func() {}
	}
	var in struct {
		RequestID string      `json:"request_id"`
		Amount    json.Number `json:"amount"`
	}
	_ = json.Unmarshal(c.Body, &in) // an unreadable body is refused when it is carried out
	now := time.Now()
	held := &Running{c.Route.Title(), in.RequestID, c.Params[0], in.Amount.String(), c.At, now, now.Add(d)}
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	s.running.list = append(s.running.list, held)
	return func() {
		s.running.mu.Lock()
		defer s.running.mu.Unlock()
		s.running.list = slices.DeleteFunc(s.running.list, func(other *Running) bool { return other == held })
	}
}

// Running returns the running requests, oldest first.
func (s *Transfers) Running() []Running {
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	list := make([]Running, len(s.running.list))
	for i, held := range s.running.list {
		list[i] = *held
	}
	return list
}
