package load

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// -soak makes TestSoak longer: go test -C tests -run TestSoak ./load -args -soak 60s
var soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak goes on")

// 200 callers move money, read and renew tokens, while one call in ten meets a fault and the service throttles. In
// the end the emulator's accounts agree with the callers' results, and no call failed that should not have.
func TestSoak(t *testing.T) {
	t.Parallel()
	s := newSoak(t)
	ctx, cancel := context.WithTimeout(t.Context(), *soakTime)
	defer cancel()
	var callers sync.WaitGroup
	for range soakCallers {
		callers.Go(func() {
			for limit := time.Now().Add(*soakTime + time.Minute); ctx.Err() == nil || s.missing() != "" && time.Now().Before(limit); {
				s.step(t.Context())
			}
		})
	}
	// Tokens are refused before their time; not so soon after each other that it looks as if no token would do.
	for pause := 600 * time.Millisecond; ctx.Err() == nil; pause *= 2 {
		select {
		case <-time.After(pause):
			s.server.RevokeTokens()
		case <-ctx.Done():
		}
	}
	callers.Wait()
	s.server.ClearFaults()
	require.NoError(t, s.server.WaitIdle(t.Context()))
	require.Empty(t, s.server.PaidTwice())
	for _, account := range s.accounts {
		require.Equal(t, prepaid.MustAmount(s.server.Balance(account)).String(), s.reported[account].String(),
			"the account does not hold what was reported to its callers")
	}
	t.Logf("%d transfers and direct entries made, %d refused, %d left unknown by a call and then resolved, %d reads; "+
		"%d requests: %d without a response, %d times 429, %d times 401, %d times 5xx",
		s.moved.Load(), s.refused.Load(), s.unknown.Load(), s.reads.Load(),
		s.requests.Load(), s.lost.Load(), s.statuses[429].Load(), s.statuses[401].Load(), s.statuses[500].Load()+s.statuses[502].Load()+s.statuses[503].Load())
	if missing := s.missing(); missing != "" {
		t.Skip("too slow to tell: the soak met none of ", missing)
	}
}

const soakCallers = 200

type soak struct {
	t        *testing.T
	server   *prepaidtest.Server
	client   *prepaid.Client
	accounts []prepaid.AccountID

	mu       sync.Mutex
	reported map[prepaid.AccountID]prepaid.Amount

	moved, refused, unknown, reads, requests, lost atomic.Int64
	statuses                                       [600]atomic.Int64
}

func newSoak(t *testing.T) *soak {
	t.Helper()
	server := prepaidtest.NewServer(t, prepaidtest.Options{RefuseFailedDirectEntry: true, TokenLifetime: 5 * time.Second, RequestLog: 100, RateLimit: 500, RateWindow: 100 * time.Millisecond})
	s := &soak{t: t, server: server, reported: make(map[prepaid.AccountID]prepaid.Amount)}
	for i := range 20 {
		balance := strconv.Itoa(i * i * 100) // some run dry
		id := server.AddAccount(prepaidtest.SeedAccount{Balance: balance})
		s.accounts = append(s.accounts, id)
		s.reported[id] = prepaid.MustAmount(balance)
	}
	config := server.Config()
	config.AttemptTimeout = attemptTimeout(t, server, s.accounts[0])
	config.Transport = &http.Transport{MaxIdleConnsPerHost: soakCallers}
	config.Limiter = ratelimit.None{}
	config.Retry = prepaid.RetryPolicy{
		MaxAttempts: 12, MinWait: time.Millisecond, MaxWait: 40 * time.Millisecond, InFlightWait: 5 * time.Millisecond,
	}
	config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
		s.requests.Add(1)
		if a.StatusCode == 0 {
			s.lost.Add(1)
		} else {
			s.statuses[a.StatusCode].Add(1)
		}
	}}
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		config.Transport.(*http.Transport).CloseIdleConnections()
	})
	s.client = client
	server.Inject(prepaidtest.AnyOperation,
		prepaidtest.CommitThenDrop().WithProbability(0.02), prepaidtest.DropBeforeCommit().WithProbability(0.02),
		prepaidtest.Truncate().WithProbability(0.01), prepaidtest.Respond(503, "").WithProbability(0.02),
		prepaidtest.Respond(500, "").WithProbability(0.01), prepaidtest.ProxyPage(502).WithProbability(0.01),
		prepaidtest.TooManyRequests(0).WithProbability(0.01))
	for _, operation := range []string{"POST /accounts/{id}/transfer", "POST /accounts/{id}/directentryout"} { // which go on alone
		server.Inject(operation, prepaidtest.DropBeforeCommit().CommitAfter(300*time.Millisecond).WithProbability(0.02),
			prepaidtest.ProxyPage(502).CommitAfter(300*time.Millisecond).WithProbability(0.02))
	}
	return s
}

// attemptTimeout is two seconds, or longer on a machine that needs long for a call of each caller at once: an attempt that ends
// early is repeated, and one that the service carries out after its end is paid twice.
func attemptTimeout(t *testing.T, server *prepaidtest.Server, account prepaid.AccountID) time.Duration {
	t.Helper()
	config := server.Config()
	config.AttemptTimeout, config.Limiter = time.Minute, ratelimit.None{}
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	defer client.Close()
	began := time.Now()
	var callers sync.WaitGroup
	for range soakCallers {
		callers.Go(func() {
			if _, err := client.Accounts.Get(t.Context(), account); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	return min(max(2*time.Second, 20*time.Since(began)), 30*time.Second)
}

// missing names an event that has not happened yet: a slow machine needs longer.
func (s *soak) missing() string {
	for name, count := range map[string]*atomic.Int64{
		"moved": &s.moved, "refused": &s.refused, "unknown": &s.unknown, "reads": &s.reads, "lost": &s.lost,
		"429": &s.statuses[429], "401": &s.statuses[401], "503": &s.statuses[503],
	} {
		if count.Load() == 0 {
			return name
		}
	}
	return ""
}

func (s *soak) step(ctx context.Context) {
	from, to := s.accounts[rand.IntN(len(s.accounts))], s.accounts[rand.IntN(len(s.accounts))]
	amount := prepaid.MustAmount(strconv.Itoa(1+rand.IntN(30)) + ".25")
	switch kind := rand.IntN(10); {
	case kind < 4:
		params := prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: amount, SourceReference: "out", DestinationReference: "in", DestinationAccountID: to,
		}
		if from == to {
			return
		}
		s.pay(from, to, amount, func() error {
			_, err := s.client.Accounts.Transfer(ctx, from, params)
			return err
		})
	case kind < 6:
		params := prepaid.DirectEntryOutParams{
			RequestID: prepaid.NewRequestID(), Amount: amount, SourceReference: "out", DestinationReference: "in", BSB: "633000",
			Destination: prepaid.BankAccount{BSB: "633000", AccountNumber: "123", AccountName: "A"},
		}
		s.pay(from, "", amount, func() error {
			_, err := s.client.Accounts.DirectEntryOut(ctx, from, params)
			return err
		})
	default:
		var account *prepaid.Account
		err := s.authorized(func() (err error) {
			account, err = s.client.Accounts.Get(ctx, from)
			return err
		})
		s.expect(err == nil && account.ID == from, "a read", err)
		s.reads.Add(1)
	}
	runtime.Gosched()
}

// pay makes a payment and, as long as its outcome is unknown, makes it again under the same request id.
func (s *soak) pay(from, to prepaid.AccountID, amount prepaid.Amount, send func() error) {
	err := s.authorized(send)
	for doubts := 0; prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown && s.expect(doubts < 20, "an outcome that stays unknown", err); doubts++ {
		s.unknown.Add(1)
		err = s.authorized(send)
	}
	_, refused := errors.AsType[*prepaid.APIError](err)
	switch {
	case err == nil:
		s.moved.Add(1)
		s.book(from, amount.Neg())
		if to != "" {
			s.book(to, amount)
		}
	case errors.Is(err, prepaid.ErrTransferFailed), to == "" && refused && errors.Is(err, prepaid.ErrBadRequest):
		s.refused.Add(1)
	default:
		s.expect(false, "a payment", err)
	}
}

// authorized makes a call again if it was not processed because its tokens expired: on a slow machine a token may have,
// by the time at which it is used, and so may the next one.
func (s *soak) authorized(call func() error) error {
	err := call()
	for tries := 0; tries < 20 && errors.Is(err, prepaid.ErrUnauthorized) && prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed; tries++ {
		err = call()
	}
	return err
}

func (s *soak) book(account prepaid.AccountID, amount prepaid.Amount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, err := s.reported[account].Add(amount)
	s.expect(err == nil, "a sum", err)
	s.reported[account] = sum
}

// expect marks the test as failed; its callers are not the test's goroutine.
func (s *soak) expect(ok bool, what string, err error) bool {
	if !ok {
		s.t.Errorf("%s failed: %v", what, err)
	}
	return ok
}
