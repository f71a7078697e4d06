package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const (
	lives    = 6
	killable = 12 // payments
	inFlight = 60 * time.Millisecond
)

var errKilled = errors.New("storetest: the process was killed")

// killWorkers runs workers that are killed before or after calls of the store. Commits are slow, or succeed and are reported as failed;
// responses are lost. In the end each payment was made exactly once.
func killWorkers(s *suite) {
	seed := rand.Uint64() //nolint:gosec // a test
	s.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	b := &bank{moved: make(map[prepaid.RequestID]int), sent: make(map[prepaid.RequestID]time.Time), lost: make(map[prepaid.RequestID]bool)}
	var ids []prepaid.RequestID
	for i := range killable {
		id := prepaid.RequestID(fmt.Sprintf("k-%02d", i))
		ids = append(ids, id)
		b.lost[id] = random.IntN(2) == 0
	}
	s.enqueue(ids...)
	var all sync.WaitGroup
	defer all.Wait()
	running, stop := context.WithCancel(s.Context())
	defer stop()
	for life := range lives {
		ctx, kill := context.WithCancel(running)
		p := &process{Store: s.Store, bank: b, kill: kill, dead: make(chan struct{}), random: rand.New(rand.NewPCG(seed, uint64(life+1)))} //nolint:gosec // a test
		p.left, p.loses = 1+random.IntN(12), life == 0                                                                                     // a loss in a later process would prolong the next wait
		last := life == lives-1
		if last {
			p.left = -1
		}
		all.Go(func() {
			w := journal.Workers{N: 4, Claim: 3, CallTimeout: 100 * time.Millisecond, DigestKey: DigestKey(), Seal: Seal()}
			if err := w.Run(ctx, p, p); err != nil && last {
				s.Errorf("Run: %v", err)
			}
		})
		if last {
			s.awaitDone(ids)
			kill()
			break
		}
		select {
		case <-p.dead:
		case <-time.After(time.Second): // few payments are left
			p.die()
		}
		s.dies()
	}
	all.Wait()
	for _, id := range ids {
		e := s.Get(s, id)
		if b.moved[id] != 1 || e.State != journal.StateDone || e.TransactionID != transaction(id) {
			s.Errorf("%s was made %d times, and is %s as transaction %q", id, b.moved[id], e.State, e.TransactionID)
		}
	}
}

// awaitDone waits until payments are done.
func (s *suite) awaitDone(ids []prepaid.RequestID) {
	for began := time.Now(); time.Since(began) < 2*patience; time.Sleep(20 * time.Millisecond) {
		pending := 0
		for _, id := range ids {
			if s.Get(s, id).State != journal.StateDone {
				pending++
			}
		}
		if pending == 0 {
			return
		}
	}
	s.Error("payments are not done, although nothing fails any more")
}

func transaction(id prepaid.RequestID) prepaid.TransactionID { return "t-" + prepaid.TransactionID(id) }

// bank makes the payments. Each request ID is paid once, unless one of its requests begins while another is in progress.
type bank struct {
	mu    sync.Mutex
	moved map[prepaid.RequestID]int
	sent  map[prepaid.RequestID]time.Time // time of the last request
	lost  map[prepaid.RequestID]bool      // the first response is still to be lost
}

// process is a process with a store and a sender. It dies at one of its calls of the store.
type process struct {
	journal.Store
	journal.Sender

	bank *bank
	kill func()
	dead chan struct{} // guarded by bank.mu, like random

	random *rand.Rand
	left   int  // calls until it dies; negative if it does not
	loses  bool // whether responses are lost
}

func (p *process) die() {
	p.bank.mu.Lock()
	defer p.bank.mu.Unlock()
	if !p.isDead() {
		close(p.dead)
		p.kill()
	}
}

func (p *process) isDead() bool {
	select {
	case <-p.dead:
		return true
	default:
		return false
	}
}

// around makes a call of the store. If the process dies, around makes no call or returns no result.
func (p *process) around(call func() error) error {
	p.bank.mu.Lock()
	p.left--
	last, before := p.left == 0, p.random.IntN(2) == 0
	lost, slow := p.left > 0 && p.random.IntN(5) == 0, time.Duration(0)
	if p.left > 0 && p.random.IntN(4) == 0 {
		slow = time.Duration(p.random.Int64N(int64(100 * time.Millisecond)))
	}
	dead := p.isDead()
	p.bank.mu.Unlock()
	if dead {
		return errKilled
	}
	if last && before {
		p.die()
		return errKilled
	}
	time.Sleep(slow / 2)
	err := call()
	time.Sleep(slow)
	if last {
		p.die()
	}
	if err == nil && (lost || last) {
		err = errKilled
	}
	return err
}

// Claim may fail although the store has claimed.
func (p *process) Claim(ctx context.Context, c journal.Claim) (list []journal.Held, err error) {
	err = p.around(func() (err error) { list, err = p.Store.Claim(ctx, c); return err })
	return list, err
}

// Record may fail although the store has recorded.
func (p *process) Record(ctx context.Context, ends []journal.End) (recorded []journal.Recorded, err error) {
	err = p.around(func() (err error) { recorded, err = p.Store.Record(ctx, ends); return err })
	return recorded, err
}

// NotBefore leaves a margin of some milliseconds for clocks.
func (p *process) NotBefore(lastSent time.Time) time.Time {
	return lastSent.Add(inFlight + inaccuracy)
}

// AwaitRepeat waits.
func (p *process) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	timer := time.NewTimer(time.Until(p.NotBefore(lastSent)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Transfer makes a payment. The time of a request is when it leaves the process, so that a slow machine changes nothing.
func (p *process) Transfer(ctx context.Context, _ prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	now := time.Now()
	p.bank.mu.Lock()
	defer p.bank.mu.Unlock()
	id := params.RequestID
	if err := ctx.Err(); err != nil || p.isDead() {
		return nil, &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, RequestID: id, Err: errors.Join(errKilled, err)}
	}
	if p.bank.moved[id] == 0 || now.Sub(p.bank.sent[id]).Abs() < inFlight {
		p.bank.moved[id]++
	}
	p.bank.sent[id] = now
	if p.loses && p.bank.lost[id] {
		p.bank.lost[id] = false
		return nil, &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, RequestID: id, Attempts: 1, FirstSent: now, LastSent: now, NotBefore: p.NotBefore(now), Err: errKilled}
	}
	return &prepaid.TransferResult{RequestID: id, TransactionID: transaction(id)}, nil
}
