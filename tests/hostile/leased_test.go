package hostile_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
)

// Table is a database of payments for the leased worker: rows that are claimed for the time of a lease. It keeps running
// when workers are killed.
type Table struct {
	mu   sync.Mutex
	rows []Row
}

// Row is a payment. Times are those of the table.
type Row struct {
	N          int
	State      hostile.State // empty until known, "sending" while claimed
	Lease      int
	LastSent   time.Time
	Due        time.Time
	sendsUntil time.Time
}

// newTable starts a table. It returns a variable for the environment of a worker.
func newTable(t *testing.T, payments int) (environment string) {
	t.Helper()
	table, calls := &Table{rows: make([]Row, payments)}, rpc.NewServer()
	for n := range table.rows {
		table.rows[n].N = n
	}
	require.NoError(t, calls.Register(table))
	server := httptest.NewServer(calls)
	t.Cleanup(server.Close)
	return "LEASED_TABLE=" + server.Listener.Addr().String()
}

// Request is a request for rows: how long their payments may be sent, how long the claim lasts, and the number of rows.
type Request struct {
	Call, Lease time.Duration
	Rows        int
}

// Claimed has the claimed rows. Open reports whether any payment has no outcome yet.
type Claimed struct {
	Rows []Row
	Open bool
}

// Claim claims due rows.
func (s *Table) Claim(in Request, out *Claimed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for i := range s.rows {
		row := &s.rows[i]
		if row.State == hostile.StatePaid || row.State == hostile.StateRejected {
			continue
		}
		out.Open = true
		if now.Before(row.Due) || len(out.Rows) == in.Rows {
			continue
		}
		if row.State == "sending" { // its holder is gone or frozen, and may have sent it until then
			row.LastSent = row.sendsUntil
		}
		row.State, row.Lease, row.Due, row.sendsUntil = "sending", row.Lease+1, now.Add(in.Lease), now.Add(in.Call)
		out.Rows = append(out.Rows, *row)
	}
	return nil
}

// Settle writes a row, if no other worker has claimed it.
func (s *Table) Settle(in Row, _ *int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := &s.rows[in.N]; row.Lease == in.Lease {
		row.State, row.LastSent, row.Due = in.State, in.LastSent, in.Due
	}
	return nil
}

// mutation is a bug of a worker.
type mutation string

const (
	correct       mutation = ""
	naiveLease    mutation = "naive-lease"    // lease shorter than a call, and no wait before the next attempt
	newID         mutation = "new-id"         // for each try
	trustsRefusal mutation = "trusts-refusal" // after an unknown outcome
	paidEarly     mutation = "paid-early"     // is written before it is sent
	onlyTime      mutation = "only-time"      // decides when it repeats
	halfWait      mutation = "half-wait"      // only-time with half of the required time
	noLinger      mutation = "no-linger"      // only-time with connections that the kernel still serves
	batch         mutation = "batch"          // no bug: sends five payments, as long as their lease allows
	batchOutlasts mutation = "batch-outlasts" // sends the later payments of a batch without looking at the lease
	trustsEnd     mutation = "trusts-end"     // of a connection: sends again at once, but waits after a time-out
)

// payer is a process of the leased worker.
type payer struct {
	is     mutation
	job    hostile.Job
	config prepaid.Config
	client *prepaid.Client
	table  *rpc.Client
	call   time.Duration // limit of one call
	lease  time.Duration
	rows   int        // of one claim
	turn   sync.Mutex // to claim a row: if there is none, one goroutine asks for all
}

// leased claims rows for the time of a lease and pays them.
func leased(ctx context.Context, job hostile.Job) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	config.Retry.MaxAttempts = 1
	is := mutation(os.Getenv("LEASED_MUTATION"))
	if is == noLinger {
		config.Transport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connection, err := new(net.Dialer).DialContext(ctx, network, address)
			return struct{ net.Conn }{connection}, err // hides SetLinger from the client
		}}
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	table, err := rpc.DialHTTP("tcp", os.Getenv("LEASED_TABLE"))
	if err != nil {
		return err
	}
	defer table.Close()
	now := time.Now()
	p := &payer{is: is, job: job, config: config, client: client, table: table, call: 4 * config.AttemptTimeout, rows: 1}
	p.lease = p.call + client.Accounts.NotBefore(now).Sub(now) + 200*time.Millisecond
	parallel := 8
	switch p.is {
	case naiveLease:
		p.lease = 100 * time.Millisecond
	case batch, batchOutlasts:
		p.rows, parallel = 5, 1
	}
	problems := make([]error, parallel)
	var wait sync.WaitGroup
	for i := range problems {
		wait.Go(func() {
			for more := true; more; {
				more, problems[i] = p.next(ctx)
			}
		})
	}
	wait.Wait()
	return errors.Join(problems...)
}

// claim claims rows. It returns none if no row is left.
func (p *payer) claim() (rows []Row, claimed time.Time, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	for {
		var out Claimed
		claimed = time.Now()
		if err := p.table.Call("Table.Claim", Request{p.call, p.lease, p.rows}, &out); err != nil || len(out.Rows) > 0 || !out.Open {
			return out.Rows, claimed, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// settle writes the state of a row.
func (p *payer) settle(row Row) error { return p.table.Call("Table.Settle", row, nil) }

// next claims rows and pays them; false if no row is left, or an outcome cannot be written.
func (p *payer) next(ctx context.Context) (bool, error) {
	rows, claimed, err := p.claim()
	for _, row := range rows {
		if p.is == batchOutlasts {
			claimed = time.Now()
		}
		if err = p.send(ctx, row, claimed.Add(p.call)); err != nil {
			break
		}
	}
	return err == nil && len(rows) > 0, err
}

// send pays a row until a deadline, and writes its outcome.
func (p *payer) send(ctx context.Context, row Row, deadline time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if p.is == paidEarly {
		row.State = hostile.StatePaid
		err := p.settle(row)
		_ = p.pay(ctx, p.client, row)
		return err
	}
	p.judge(&row, p.pay(ctx, p.sender(row), row))
	return p.settle(row)
}

// sender is the client or, for a worker that forgets its requests, a new client for each call.
func (p *payer) sender(row Row) *prepaid.Client {
	if p.is != trustsRefusal && !p.waitsItself() && (p.is != trustsEnd || !row.LastSent.IsZero()) {
		return p.client
	}
	config := p.config
	if p.is == onlyTime || p.is == noLinger { // no token request waits for the service to respond; no token expires in these runs
		config.Token = func(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) { return p.client.Token(ctx) }
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return p.client
	}
	return client
}

// waitsItself reports whether the client does not know earlier requests.
func (p *payer) waitsItself() bool { return p.is == onlyTime || p.is == halfWait || p.is == noLinger }

func (p *payer) pay(ctx context.Context, client *prepaid.Client, row Row) error {
	payment := p.job.Payments[row.N]
	if p.is == newID {
		payment.RequestID = prepaid.NewRequestID()
	}
	if p.is == trustsRefusal || p.is == newID || p.is == naiveLease || p.waitsItself() {
		row.LastSent = time.Time{}
	}
	return pay(ctx, client, payment, row.LastSent)
}

// judge decides the state of a row.
func (p *payer) judge(row *Row, err error) {
	row.State, row.Due = "", time.Now().Add(20*time.Millisecond)
	call, _ := errors.AsType[*prepaid.CallError](err)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		row.State = hostile.StatePaid
	case prepaid.OutcomeRejected:
		row.State = hostile.StateRejected
	case prepaid.OutcomeUnknown:
		if p.is == trustsEnd && cutOff(err) {
			row.LastSent = time.Time{}
			return
		}
		if !call.LastSent.IsZero() {
			row.LastSent = call.LastSent
		}
		if call.NotBefore.After(row.Due) {
			row.Due = call.NotBefore
		}
		if wait := p.config.AttemptTimeout + p.config.Retry.InFlightWait; p.is == halfWait {
			row.Due = row.LastSent.Add(wait / 2)
		} else if p.waitsItself() {
			row.Due = row.LastSent.Add(wait)
		}
	case prepaid.OutcomeNotProcessed:
	}
}

// cutOff reports whether the service has closed the connection.
func cutOff(err error) bool {
	_, ok := errors.AsType[*prepaid.TransportError](err)
	return ok && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded)
}
