package prepaidtest

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// transferCacheLife is how long the answer to a request_id is kept (section 8).
const transferCacheLife = 30 * 24 * time.Hour

// The operations that have a request_id.
const (
	transferOperation    = "POST /accounts/{id}/transfer"
	directEntryOperation = "POST /accounts/{id}/directentryout"
)

// transferKey scopes a request_id to its operation.
type transferKey struct{ operation, requestID string }

// cachedTransfer is the answer of a transfer that was made.
type cachedTransfer struct {
	body    []byte
	expires time.Time
	serial  int64 // counts what was put in the cache; 0 when it was restored
}

type transferBody struct {
	TransactionID int64  `json:"transaction_id"`
	CorrelationID string `json:"correlation_id"`
}

// failTransfer responds with an empty transaction_id, in the form chosen with FailedTransfer.
func (s *Server) failTransfer(c *exchange.Call) exchange.Response {
	correlation := s.ids.UUID()
	switch s.settings.failedTransfer {
	case EmptyNull:
		return c.JSON(http.StatusOK, struct {
			TransactionID *int64 `json:"transaction_id"`
			CorrelationID string `json:"correlation_id"`
		}{nil, correlation})
	case EmptyAbsent:
		return c.JSON(http.StatusOK, struct {
			CorrelationID string `json:"correlation_id"`
		}{correlation})
	case EmptyZero:
		return c.JSON(http.StatusOK, transferBody{0, correlation})
	}
	return c.JSON(http.StatusOK, struct {
		TransactionID string `json:"transaction_id"`
		CorrelationID string `json:"correlation_id"`
	}{"", correlation})
}

// pay makes a transfer and keeps the response when it succeeded. The reference caches what was handled successfully
// (section 8), so the worst case is assumed: the cache is read when a request arrives and written when the movement is
// made. A repeat gets the cached response only when it arrived after that; one that arrives while the first is still
// running is carried out too.
func (s *Server) pay(c *exchange.Call, requestID string, move func(now time.Time) (id int64, refusal *exchange.Response)) exchange.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.forgetTransfers(now)
	key := transferKey{c.Route.Name(), requestID}
	cached, known := s.transfers[key]
	if known && cached.serial <= c.Cached {
		return exchange.Response{Status: http.StatusOK, ContentType: c.Form.MediaType, Body: cached.body}
	}
	id, refusal := move(now)
	if refusal != nil {
		return *refusal
	}
	answer := c.JSON(http.StatusOK, transferBody{TransactionID: id, CorrelationID: s.ids.UUID()})
	if requestID == "" {
		return answer
	}
	if s.movements[key]++; s.movements[key] > 1 && s.settings.logger != nil {
		s.settings.logger.Warn("one request_id made another movement", slog.String("operation", key.operation), slog.Int("movements", s.movements[key]))
	}
	if !known {
		s.transfers[key] = cachedTransfer{body: answer.Body, expires: now.Add(transferCacheLife), serial: s.cached.Add(1)}
		s.transferQ = append(s.transferQ, key)
	}
	return answer
}

// forgetTransfers drops answers older than 30 days. Since all live equally long, the queue is in order.
func (s *Server) forgetTransfers(now time.Time) {
	for len(s.transferQ) > 0 && !now.Before(s.transfers[s.transferQ[0]].expires) {
		delete(s.transfers, s.transferQ[0])
		s.transferQ = s.transferQ[1:]
	}
}

// transfer answers POST /accounts/{id}/transfer. Insufficient funds, a source that is not active and a
// destination that does not exist or can take no money are failed transfers: 200 with an empty transaction_id,
// and not cached.
func (s *Server) transfer(c *exchange.Call) exchange.Response {
	var in struct {
		initiator, requestID, sourceReference, destinationReference, destination string
		amount                                                                   wire.Money
		kind                                                                     int64
	}
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("initiator_username", &in.initiator)
		b.String("request_id", &in.requestID).Max(100)
		b.Decimal("amount", &in.amount, false).Required().Positive()
		b.String("source_reference", &in.sourceReference).Required().Max(75)
		b.String("destination_reference", &in.destinationReference).Required().Max(75)
		b.String("destination_account_id", &in.destination).Required()
		b.Integer("transaction_type", &in.kind).Required()
	}); refusal != nil {
		return *refusal
	}
	return s.pay(c, in.requestID, func(now time.Time) (int64, *exchange.Response) {
		source, destination := s.accounts[c.Params[0]], s.accounts[in.destination]
		if source == nil {
			return 0, new(c.Unusable("the source account does not exist"))
		}
		if source.status != "active" || destination == nil || destination == source || !destination.receives() ||
			!source.room(-in.amount) || !destination.room(in.amount) {
			return 0, new(s.failTransfer(c))
		}
		code := codeCardToCard
		if strconv.FormatInt(in.kind, 10) == string(codeLoad) {
			code = codeLoad
		}
		out, _ := s.post(source, entry{code: code, amount: -in.amount, reference: in.sourceReference}, now)
		s.post(destination, entry{code: code, amount: in.amount, parent: out.id, reference: in.destinationReference}, now)
		return out.id, nil
	})
}

// receives tells whether money may come in: an account that is over and done with takes none.
func (a *account) receives() bool {
	switch a.status {
	case "closed", "replaced", "expired", "lost_or_stolen", "deactivated":
		return false
	}
	return true
}

// directEntryOut answers POST /accounts/{id}/directentryout. Its row requires the transaction_id, so that a
// payment that cannot be made is refused with 400, unless EmptyIDForFailedDirectEntry is set.
func (s *Server) directEntryOut(c *exchange.Call) exchange.Response {
	var in struct {
		initiator, requestID, sourceReference, destinationReference string
		bankBSB, accountNumber, accountName, bsb                    string
		amount                                                      wire.Money
	}
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("initiating_user_id", &in.initiator)
		b.String("request_id", &in.requestID).Max(100)
		b.Decimal("amount", &in.amount, false).Required().Positive()
		b.String("source_reference", &in.sourceReference).Required().Max(75)
		b.String("destination_reference", &in.destinationReference).Required().Max(75)
		b.Object("destination_account_info", func(b *wire.Reader) {
			b.String("bsb", &in.bankBSB).Required().Form(isBSB, "must have six digits")
			b.String("account_number", &in.accountNumber).Required().Form(wire.IsDigits, "may have digits only")
			b.String("account_name", &in.accountName).Required()
		}).Required()
		b.String("bsb", &in.bsb).Required()
	}); refusal != nil {
		return *refusal
	}
	return s.pay(c, in.requestID, func(now time.Time) (int64, *exchange.Response) {
		failed := func(description string) *exchange.Response {
			if s.settings.emptyDirectEntry {
				return new(s.failTransfer(c))
			}
			return new(c.Unusable(description))
		}
		source := s.accounts[c.Params[0]]
		switch {
		case source == nil:
			return 0, new(c.Unusable("the source account does not exist"))
		case source.status != "active":
			return 0, failed("the source account is not active")
		case !source.room(-in.amount):
			return 0, failed("invalid fields: amount is more than the balance")
		}
		out, _ := s.post(source, entry{code: codeDirectEntryOut, amount: -in.amount, reference: in.sourceReference}, now)
		return out.id, nil
	})
}

func isBSB(text string) bool { return len(text) == 6 && wire.IsDigits(text) }
