package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/ratelimit"
)

// teller is a sender whose responses a test chooses.
type teller struct {
	rest time.Duration
	// reply returns the response to a payment; by default it is done.
	reply func(ctx context.Context, id prepaid.RequestID, lastSent time.Time) error

	mu   sync.Mutex
	sent []prepaid.RequestID
}

func (s *teller) NotBefore(lastSent time.Time) time.Time {
	if lastSent.IsZero() {
		return lastSent
	}
	return lastSent.Add(s.rest)
}

func (s *teller) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	return pause.For(ctx, time.Until(s.NotBefore(lastSent)))
}

func (s *teller) Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return s.send(ctx, "Accounts.Transfer", source, params.RequestID, params.LastSent)
}

func (s *teller) DirectEntryOut(ctx context.Context, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return s.send(ctx, "Accounts.DirectEntryOut", source, params.RequestID, params.LastSent)
}

func (s *teller) send(ctx context.Context, operation string, source prepaid.AccountID, id prepaid.RequestID, lastSent time.Time) (*prepaid.TransferResult, error) {
	s.mu.Lock()
	s.sent = append(s.sent, id)
	number := len(s.sent)
	s.mu.Unlock()
	if s.reply != nil {
		if err := s.reply(ctx, id, lastSent); err != nil {
			if call, ok := errors.AsType[*prepaid.CallError](err); ok {
				call.Operation, call.AccountID, call.RequestID = operation, source, id
			}
			return nil, err
		}
	}
	return &prepaid.TransferResult{TransactionID: prepaid.TransactionID(strconv.Itoa(number)), CorrelationID: "c", RequestID: id}, nil
}

func (s *teller) sendings(id prepaid.RequestID) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sent := range s.sent {
		if sent == id {
			n++
		}
	}
	return n
}

// unknownNow is the error of a payment whose response was lost.
func (s *teller) unknownNow() error {
	now := time.Now()
	return &prepaid.CallError{
		Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: now, LastSent: now, NotBefore: s.NotBefore(now),
		Err: &prepaid.TransportError{Sent: true, Step: "headers", Err: context.DeadlineExceeded},
	}
}

func rejected() error {
	now := time.Now()
	return &prepaid.CallError{
		Outcome: prepaid.OutcomeRejected, Attempts: 1, FirstSent: now, LastSent: now,
		Err: &prepaid.APIError{StatusCode: 403, Code: prepaid.CodeInvalidRequest},
	}
}

func notProcessed() error {
	return &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: &ratelimit.RefusedError{}}
}

// testStore is a store in its own database.
type testStore struct {
	*Store
	t *testing.T
}

func testOptions(t testing.TB) Options {
	t.Helper()
	aead, err := journal.NewAEAD(make([]byte, 32))
	require.NoError(t, err)
	return Options{DigestKey: prepaid.NewSecret("key"), Seal: aead, CallTimeout: time.Minute} // no lease ends on a slow machine
}

func newStore(t *testing.T) testStore {
	t.Helper()
	return openStore(t, newPool(t))
}

func openStore(t *testing.T, pool *pgxpool.Pool) testStore {
	t.Helper()
	s, err := Open(t.Context(), pool, testOptions(t))
	require.NoError(t, err)
	return testStore{s, t}
}

func today() prepaid.Date { return prepaid.DateOf(time.Now().UTC()) }

func transfer(key string) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(today(), "test", key), Amount: prepaid.Cents(1000), SourceReference: "FROM", DestinationReference: "TO",
		DestinationAccountID: "EA2",
	}
}

// enqueue adds payments in one transaction.
func (s testStore) enqueue(list ...prepaid.PaymentParams) {
	s.t.Helper()
	require.NoError(s.t, pgx.BeginFunc(s.t.Context(), s.pool, func(tx pgx.Tx) error {
		for _, params := range list {
			if err := s.Enqueue(s.t.Context(), tx, "EA1", params); err != nil {
				return err
			}
		}
		return nil
	}))
}

// add adds n payments and returns their request IDs.
func (s testStore) add(n int) []prepaid.RequestID {
	s.t.Helper()
	var list []prepaid.PaymentParams
	var ids []prepaid.RequestID
	for i := range n {
		params := transfer(fmt.Sprint(i))
		list, ids = append(list, params), append(ids, params.RequestID)
	}
	s.enqueue(list...)
	return ids
}

func (s testStore) entry(id prepaid.RequestID) journal.Entry {
	s.t.Helper()
	e, err := s.Get(s.t.Context(), id)
	require.NoError(s.t, err)
	return e
}

// in executes a decision in a transaction.
func (s testStore) in(decide func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(s.t.Context(), s.pool, decide)
}

func (s testStore) exec(statement string, arguments ...any) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), statement, arguments...)
	require.NoError(s.t, err)
}

// claims claims payments for a worker whose calls take up to CallTimeout.
func (s testStore) claims(sender *teller, n int) []journal.Held {
	s.t.Helper()
	list, err := s.Claim(s.t.Context(), journal.Claim{N: n, Sends: 3 * s.options.CallTimeout / 2, Rest: sender.rest, Admitted: time.Now().Add(time.Hour)})
	require.NoError(s.t, err)
	return list
}

// ended is the end of a run.
func (s testStore) ended(h journal.Held, result *prepaid.TransferResult, failure error) journal.End {
	s.t.Helper()
	run, err := h.Entry.Begin(time.Now())
	require.NoError(s.t, err)
	after, _ := run.End(time.Now(), result, failure)
	return journal.End{Fence: h.Fence, Entry: after}
}

// start starts workers. The result ends them, and requires that they end without an error.
func (s testStore) start(sender journal.Sender, workers Workers) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, sender, workers) }()
	return func() {
		cancel()
		require.NoError(s.t, <-ended)
	}
}

// runUntil runs workers until enough, called after each event, returns true, and returns the result of Run.
func (s testStore) runUntil(sender journal.Sender, workers Workers, enough func() bool) error {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- s.Run(ctx, sender, workers) }()
	for ctx.Err() == nil && !enough() {
		time.Sleep(2 * time.Millisecond)
	}
	require.NoError(s.t, ctx.Err(), "what the test waits for did not happen")
	cancel()
	return <-result
}

// are reports whether all payments are in a state.
func (s testStore) are(state journal.State, ids ...prepaid.RequestID) func() bool {
	texts := make([]string, len(ids)) // pgx encodes no other slice in exec mode
	for i, id := range ids {
		texts[i] = string(id)
	}
	return func() bool {
		var n int
		err := s.pool.QueryRow(s.t.Context(), "select count(*) from prepaid.payments where request_id = any($1) and state = $2 and sends_until is null", texts, state).Scan(&n)
		return err == nil && n == len(ids)
	}
}

// late is a claim that came too late to send, as on a slow machine, or too early.
var late = regexp.MustCompile(` begin:\w+ give back:\w+`)

// history returns events and states of a payment, without claims given back.
func (s testStore) history(id prepaid.RequestID) string {
	s.t.Helper()
	return late.ReplaceAllString(text(s.t, s.pool, `select string_agg(event || ':' || h.state, ' ' order by at, h.lease, event) from prepaid.history h
		join prepaid.payments p on p.number = h.payment where request_id = $1`, id), "")
}
