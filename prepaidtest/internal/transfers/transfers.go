// Package transfers makes transfers and direct entries, once per request id: a repeat gets the cached response. An option
// excludes loads.
//
// The cache is read when a request arrives and written when the movement is made, as the reference allows. If a repeat arrives
// while the first request is still running, the money moves again; Movements and PaidTwice report this. The state is under the
// lock of the ledger.
package transfers

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// transferCacheLife is how long the response to a request_id is kept (section 8).
const transferCacheLife = 30 * 24 * time.Hour

// The operations that have a request_id.
const (
	transferOperation    = "POST /accounts/{id}/transfer"
	directEntryOperation = "POST /accounts/{id}/directentryout"
)

// EmptyID is how a response shows that transaction_id is empty.
type EmptyID int

// The forms of an empty transaction_id.
const (
	AsString EmptyID = iota
	AsNull
	AsAbsent
	AsZero
)

// Options are the choices that the reference leaves open about transfers.
type Options struct {
	Failed            EmptyID
	RefuseDirectEntry bool         // a direct entry that fails is refused; it has no empty transaction_id
	UncachedLoads     bool         // the response to a load is not cached: each repeat moves the money again
	Logger            *slog.Logger // nil for none
}

// Transfers carries out transfers and direct entries. The ledger's lock guards it.
type Transfers struct {
	ledger *ledger.Ledger
	clock  *clock.Clock
	ids    *ids.Source
	with   Options

	put       atomic.Int64 // responses put in the cache so far
	cache     map[transferKey]cachedTransfer
	queue     []transferKey // keys of the cache, oldest first
	movements map[transferKey]int

	running inFlight // has its own lock
}

// New makes the transfer operations.
func New(books *ledger.Ledger, c *clock.Clock, from *ids.Source, with Options) *Transfers {
	return &Transfers{
		ledger: books, clock: c, ids: from, with: with, cache: make(map[transferKey]cachedTransfer), movements: make(map[transferKey]int),
	}
}

// Cached counts the responses put in the cache so far. A request can only get a response that was cached before the
// request arrived.
func (s *Transfers) Cached() int64 { return s.put.Load() }

// Movements returns how many movements were made with a request id. The count is kept forever.
func (s *Transfers) Movements(_ ledger.View, requestID string) int {
	return s.movements[transferKey{transferOperation, requestID}] + s.movements[transferKey{directEntryOperation, requestID}]
}

// PaidTwice returns, in sorted order, the request ids with which an operation made more than one movement.
func (s *Transfers) PaidTwice(_ ledger.View) []string {
	var twice []string
	for key, movements := range s.movements {
		if movements > 1 {
			twice = append(twice, key.requestID)
		}
	}
	slices.Sort(twice)
	return slices.Compact(twice)
}

// transferKey scopes a request_id to its operation.
type transferKey struct{ operation, requestID string }

// cachedTransfer is the response of a transfer that was made.
type cachedTransfer struct {
	body    []byte
	expires time.Time
	serial  int64 // number in the order of caching; 0 when restored
}

type transferBody struct {
	TransactionID int64  `json:"transaction_id"`
	CorrelationID string `json:"correlation_id"`
}

// failTransfer responds with an empty transaction_id, in the form of the option FailedTransfer.
func (s *Transfers) failTransfer(c *exchange.Call) exchange.Response {
	correlation := s.ids.UUID()
	switch s.with.Failed {
	case AsNull:
		return c.JSON(http.StatusOK, struct {
			TransactionID *int64 `json:"transaction_id"`
			CorrelationID string `json:"correlation_id"`
		}{nil, correlation})
	case AsAbsent:
		return c.JSON(http.StatusOK, struct {
			CorrelationID string `json:"correlation_id"`
		}{correlation})
	case AsZero:
		return c.JSON(http.StatusOK, transferBody{0, correlation})
	}
	return c.JSON(http.StatusOK, struct {
		TransactionID string `json:"transaction_id"`
		CorrelationID string `json:"correlation_id"`
	}{"", correlation})
}

// pay makes a transfer and caches the response of a success. Section 8 of the reference does not say when the service writes the
// cache. pay assumes the worst case: it reads the cache when a request arrives and writes it when the money moves. So a repeat that
// arrives while the first request is running is carried out too. If uncached is set, every repeat is.
func (s *Transfers) pay(c *exchange.Call, requestID string, uncached bool, move func(l ledger.Locked, now time.Time) (id int64, refusal *exchange.Response)) exchange.Response {
	l := s.ledger.Lock()
	defer l.Unlock()
	now := s.clock.Now()
	s.forgetTransfers(now)
	key := transferKey{c.Route.Title(), requestID}
	cached, known := s.cache[key]
	if known && cached.serial <= c.Cached && !uncached {
		c.Replayed = true
		return exchange.Response{Status: http.StatusOK, ContentType: c.Form.MediaType, Body: cached.body}
	}
	id, refusal := move(l, now)
	if refusal != nil {
		return *refusal
	}
	response := c.JSON(http.StatusOK, transferBody{TransactionID: id, CorrelationID: s.ids.UUID()})
	if requestID == "" {
		return response
	}
	if s.movements[key]++; s.movements[key] > 1 && s.with.Logger != nil {
		s.with.Logger.Warn("one request_id made another movement", slog.String("operation", key.operation), slog.Int("movements", s.movements[key]))
	}
	if !known && !uncached {
		s.cache[key] = cachedTransfer{body: response.Body, expires: now.Add(transferCacheLife), serial: s.put.Add(1)}
		s.queue = append(s.queue, key)
	}
	return response
}

// forgetTransfers drops responses older than 30 days. All have the same lifetime, so the queue is in order.
func (s *Transfers) forgetTransfers(now time.Time) {
	for len(s.queue) > 0 && !now.Before(s.cache[s.queue[0]].expires) {
		delete(s.cache, s.queue[0])
		s.queue = s.queue[1:]
	}
}

// input has the members of the two bodies that have an effect.
type input struct {
	RequestID            string     `json:"request_id"`
	Amount               wire.Money `json:"amount"`
	SourceReference      string     `json:"source_reference"`
	DestinationReference string     `json:"destination_reference"`
	Destination          string     `json:"destination_account_id"`
	Kind                 int64      `json:"transaction_type"`
}

// Transfer handles POST /accounts/{id}/transfer. A transfer fails if funds are insufficient, the source is not
// active, or the destination does not exist or cannot take money. The response is 200 with an empty transaction_id,
// and is not cached.
func (s *Transfers) Transfer(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[input](c)
	if refusal != nil {
		return *refusal
	}
	code := ledger.CodeCardToCard
	if strconv.FormatInt(in.Kind, 10) == string(ledger.CodeLoad) {
		code = ledger.CodeLoad
	}
	uncached := s.with.UncachedLoads && code == ledger.CodeLoad
	return s.pay(c, in.RequestID, uncached, func(l ledger.Locked, now time.Time) (int64, *exchange.Response) {
		source, destination := l.Account(c.Params[0]), l.Account(in.Destination)
		if source == nil {
			return 0, new(c.Unusable("the source account does not exist"))
		}
		if source.Status != "active" || destination == nil || destination == source || !destination.Receives() ||
			!source.Room(in.Amount.Neg()) || !destination.Room(in.Amount) {
			return 0, new(s.failTransfer(c))
		}
		out, _ := l.Post(source, ledger.Entry{Type: code, Amount: in.Amount.Neg(), Reference: in.SourceReference}, now)
		l.Post(destination, ledger.Entry{Type: code, Amount: in.Amount, ParentID: out.ID, Reference: in.DestinationReference}, now)
		return out.ID, nil
	})
}

// DirectEntryOut handles POST /accounts/{id}/directentryout. An impossible payment fails like a transfer, or with 400 if
// RefuseDirectEntry is set.
func (s *Transfers) DirectEntryOut(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[input](c)
	if refusal != nil {
		return *refusal
	}
	return s.pay(c, in.RequestID, false, func(l ledger.Locked, now time.Time) (int64, *exchange.Response) {
		failed := func(description string) *exchange.Response {
			if s.with.RefuseDirectEntry {
				return new(c.Unusable(description))
			}
			return new(s.failTransfer(c))
		}
		source := l.Account(c.Params[0])
		switch {
		case source == nil:
			return 0, new(c.Unusable("the source account does not exist"))
		case source.Status != "active":
			return 0, failed("the source account is not active")
		case !source.Room(in.Amount.Neg()):
			return 0, failed("invalid fields: amount is more than the balance")
		}
		out, _ := l.Post(source, ledger.Entry{Type: ledger.CodeDirectEntryOut, Amount: in.Amount.Neg(), Reference: in.SourceReference}, now)
		return out.ID, nil
	})
}
