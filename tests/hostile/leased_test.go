package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
)

// table is a database of payments for the leased worker: rows that are claimed for the time of a lease. It keeps running
// when workers are killed.
type table struct {
	mu   sync.Mutex
	rows []record
}

// record is a row. Times are those of the table.
type record struct {
	N          int           `json:"n"`
	State      hostile.State `json:"state"` // empty until known, sending while claimed
	Lease      int           `json:"lease"`
	LastSent   time.Time     `json:"last_sent"`
	Due        time.Time     `json:"due"`
	Ended      bool          `json:"ended"` // the connection of the last request
	sendsUntil time.Time
}

const sending hostile.State = "sending"

// newTable starts a table.
func newTable(t *testing.T) (*table, string) {
	t.Helper()
	store := new(table)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /claim", func(w http.ResponseWriter, q *http.Request) {
		var in claim
		_ = json.NewDecoder(q.Body).Decode(&in)
		rows, status := store.claim(in)
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(rows)
	})
	mux.HandleFunc("POST /settle", func(w http.ResponseWriter, q *http.Request) {
		var in record
		_ = json.NewDecoder(q.Body).Decode(&in)
		w.WriteHeader(store.settle(in))
	})
	mux.HandleFunc("POST /rows", func(w http.ResponseWriter, _ *http.Request) {
		store.mu.Lock()
		defer store.mu.Unlock()
		_ = json.NewEncoder(w).Encode(store.rows)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return store, "LEASED_TABLE=" + server.URL
}

// order is Prepare.
func (s *table) order(_ context.Context, job hostile.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range job.Payments {
		s.rows = append(s.rows, record{N: n})
	}
	return nil
}

// claim is the request for rows: how long their payments may be sent, how long the claim lasts, and the number of rows.
type claim struct {
	Call, Lease time.Duration
	Rows        int
}

func (s *table) claim(in claim) (claimed []record, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, open := time.Now(), false
	for i := range s.rows {
		row := &s.rows[i]
		if row.State == hostile.StatePaid || row.State == hostile.StateRejected {
			continue
		}
		open = true
		if now.Before(row.Due) || len(claimed) == in.Rows {
			continue
		}
		if row.State == sending { // its holder is gone or frozen, and may have sent it until then
			row.LastSent = row.sendsUntil
		}
		row.State, row.Lease, row.Due, row.sendsUntil = sending, row.Lease+1, now.Add(in.Lease), now.Add(in.Call)
		claimed = append(claimed, *row)
	}
	switch {
	case len(claimed) > 0:
		return claimed, http.StatusOK
	case open:
		return nil, http.StatusAccepted
	}
	return nil, http.StatusGone
}

func (s *table) settle(in record) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if row := &s.rows[i]; row.N == in.N && row.Lease == in.Lease {
			row.State, row.LastSent, row.Due, row.Ended = in.State, in.LastSent, in.Due, in.Ended
			return http.StatusOK
		}
	}
	return http.StatusConflict
}

// mutation is a bug of a worker.
type mutation string

const (
	correct       mutation = ""
	naiveLease    mutation = "naive-lease"    // lease shorter than a call, and no wait before the next attempt
	newID         mutation = "new-id"         // for each try
	atOnce        mutation = "at-once"        // after an unknown outcome
	trustsRefusal mutation = "trusts-refusal" // after an unknown outcome
	paidEarly     mutation = "paid-early"     // is written before it is sent
	ignoresResult mutation = "ignores-result" // of the service
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
	table  string
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
	now := time.Now()
	p := &payer{is: is, job: job, config: config, client: client, table: os.Getenv("LEASED_TABLE"), call: 4 * config.AttemptTimeout, rows: 1}
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
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return p.summarize(ctx)
}

// claim claims rows. It returns none if no row is left.
func (p *payer) claim(ctx context.Context) (rows []record, claimed time.Time, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	for {
		claimed = time.Now()
		status, err := p.ask(ctx, "claim", claim{p.call, p.lease, p.rows}, &rows)
		if err != nil || status != http.StatusAccepted {
			return rows, claimed, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// next claims rows and pays them; false if no row is left, or an outcome cannot be written.
func (p *payer) next(ctx context.Context) (bool, error) {
	rows, claimed, err := p.claim(ctx)
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
func (p *payer) send(ctx context.Context, row record, deadline time.Time) (err error) {
	call, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	switch p.is {
	case naiveLease:
		p.judge(&row, p.pay(ctx, p.client, row))
	case paidEarly:
		row.State = hostile.StatePaid
		_, err = p.ask(ctx, "settle", row, nil)
		_ = p.pay(call, p.client, row)
		return err
	default:
		p.judge(&row, p.pay(call, p.sender(row), row))
	}
	_, err = p.ask(ctx, "settle", row, nil) // a conflict: another worker has it
	return err
}

// sender is the client or, for a forgetful worker, a new client for each call.
func (p *payer) sender(row record) *prepaid.Client {
	forgets := row.Ended && row.LastSent.IsZero()
	if p.is != atOnce && p.is != trustsRefusal && !forgets && !p.waitsItself() {
		return p.client
	}
	config := p.config
	if p.is == onlyTime || p.is == noLinger || forgets { // no token request waits for the service to respond
		config.TokenSource = tokensOf{p.client}.Token
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return p.client
	}
	return client
}

type tokensOf struct{ client *prepaid.Client }

// Token returns the token of another client.
func (t tokensOf) Token(ctx context.Context, _ *oauth2.Token) (*oauth2.Token, error) {
	return t.client.Token(ctx)
}

// waitsItself reports whether the client does not know earlier requests.
func (p *payer) waitsItself() bool { return p.is == onlyTime || p.is == halfWait || p.is == noLinger }

func (p *payer) pay(ctx context.Context, client *prepaid.Client, row record) error {
	payment := p.job.Payments[row.N]
	if p.is == newID {
		payment.RequestID = prepaid.NewRequestID()
	}
	if p.is == atOnce || p.is == trustsRefusal || p.is == newID || p.is == naiveLease || p.waitsItself() {
		row.LastSent = time.Time{}
	}
	return pay(ctx, client, payment, row.LastSent)
}

// judge decides the state of a row.
func (p *payer) judge(row *record, err error) {
	row.State, row.Due = "", time.Now().Add(20*time.Millisecond)
	call, _ := errors.AsType[*prepaid.CallError](err)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		row.State = hostile.StatePaid
	case prepaid.OutcomeRejected:
		row.State = hostile.StateRejected
		if p.is == ignoresResult {
			row.State = hostile.StatePaid
		}
	case prepaid.OutcomeUnknown:
		if row.Ended = p.is == trustsEnd && cutOff(err); row.Ended {
			row.LastSent = time.Time{}
			return
		}
		if call != nil && !call.LastSent.IsZero() {
			row.LastSent = call.LastSent
		}
		if call != nil && call.NotBefore.After(row.Due) && p.is != atOnce {
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
	late, timed := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && !(timed && late.Timeout())
}

func (p *payer) summarize(ctx context.Context) error {
	var rows []record
	if _, err := p.ask(ctx, "rows", nil, &rows); err != nil {
		return err
	}
	claims := make([]hostile.Claim, len(rows))
	for i, row := range rows {
		claims[i] = hostile.Claim{RequestID: p.job.Payments[row.N].RequestID, State: row.State}
	}
	return p.job.Summarize(claims)
}

// ask calls the table.
func (p *payer) ask(ctx context.Context, what string, in, out any) (int, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.table+"/"+what, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("table: %w", err)
	}
	defer response.Body.Close()
	if out != nil {
		err = json.NewDecoder(response.Body).Decode(out)
	}
	return response.StatusCode, err
}
