package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// each is how many payments there are of each kind: more than there are recorders.
const each = 3

// rude is all code of a caller of Run. Its methods misbehave in their first two calls.
type rude struct {
	misbehaves func()
	short      bool // the first results of the store have a wrong number instead

	mu      sync.Mutex
	calls   map[string]int
	queue   []Held
	records map[prepaid.RequestID]int
	lines   bytes.Buffer
}

// enter returns how many results the method is to return too many, or too few if negative.
func (r *rude) enter(method string) (extra int) {
	r.mu.Lock()
	r.calls[method]++
	n := r.calls[method]
	r.mu.Unlock()
	switch {
	case n > 2:
		return 0
	case !r.short:
		r.misbehaves()
	}
	return 2*n - 3
}

func (r *rude) Claim(_ context.Context, c Claim) ([]Held, error) {
	if r.enter("Claim") != 0 {
		return make([]Held, c.N+1), nil
	}
	n := min(c.N, len(r.queue))
	list := r.queue[:n]
	r.queue = r.queue[n:]
	return list, nil
}

func (r *rude) Record(_ context.Context, ends []End) ([]Recorded, error) {
	if extra := r.enter("Record"); extra != 0 {
		return make([]Recorded, len(ends)+extra), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	recorded := make([]Recorded, len(ends))
	for i, end := range ends {
		r.records[end.Entry.RequestID]++
		switch kind, _, _ := strings.Cut(string(end.Entry.RequestID), "-"); kind {
		case "Lost":
			recorded[i].Overtaken = true
		case "Gone":
			recorded[i].Gone = true
		case "PaidTwice":
			recorded[i].Known = "1"
		default:
			recorded[i].Written = true
		}
	}
	return recorded, nil
}

func (r *rude) Resting(context.Context, time.Time) (*Resting, error) {
	r.enter("Resting")
	return &Resting{Account: "1", Due: time.Now()}, nil
}

func (*rude) Decide(context.Context, prepaid.RequestID, func(Entry, time.Time) (Entry, error)) error {
	return errors.ErrUnsupported // workers never call it
}

// NotBefore does not misbehave in the first call, in which Run would return its error.
func (r *rude) NotBefore(lastSent time.Time) time.Time {
	r.mu.Lock()
	begun := r.calls["Claim"] > 0
	r.mu.Unlock()
	if begun {
		r.enter("NotBefore")
	}
	return lastSent.Add(time.Second)
}

func (r *rude) AwaitRepeat(context.Context, prepaid.AccountID, time.Time) error {
	r.enter("AwaitRepeat")
	return nil
}

func (r *rude) Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	r.enter("Transfer")
	return &prepaid.TransferResult{TransactionID: "2"}, nil
}

func (r *rude) DirectEntryOut(context.Context, prepaid.AccountID, prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	r.enter("DirectEntryOut")
	return &prepaid.TransferResult{TransactionID: "2"}, nil
}

func (*rude) Encrypt(plaintext, _ []byte) ([]byte, error) { return plaintext, nil }

func (r *rude) Decrypt(ciphertext, _ []byte) ([]byte, error) {
	r.enter("Decrypt")
	return ciphertext, nil
}

func (r *rude) Enabled(context.Context, slog.Level) bool {
	r.enter("Enabled")
	return true
}

func (r *rude) Handle(_ context.Context, record slog.Record) error {
	r.enter("Handle")
	r.mu.Lock()
	defer r.mu.Unlock()
	return slog.NewTextHandler(&r.lines, nil).Handle(context.Background(), record)
}

func (r *rude) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *rude) WithGroup(string) slog.Handler      { return r }

// add adds payments of a kind.
func (r *rude) add(t *testing.T, kind string, state State) {
	t.Helper()
	for i := range each {
		account := prepaid.TransferParams{Amount: prepaid.MustAmount("1"), DestinationAccountID: "2", SourceReference: "a", DestinationReference: "b"}
		account.RequestID = prepaid.RequestID(fmt.Sprint(kind, "-", i))
		e, err := NewEntry(prepaid.Secret{}, "1", account)
		require.NoError(t, err)
		if kind != "GivenBack" { // for lack of params
			e.Sealed, err = e.Seal(r, account)
			require.NoError(t, err)
		}
		if e.State = state; state.Open() {
			e.Runs, e.Began, e.Changed = 1, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)
		}
		r.queue = append(r.queue, Held{Entry: e, Fence: fmt.Sprint(i), Now: time.Now()})
	}
}

// runRude runs workers with the code of r for a minute, and checks that they have recorded each payment.
func runRude(t *testing.T, r *rude, trace Trace) {
	t.Helper()
	r.calls, r.records = make(map[string]int), make(map[prepaid.RequestID]int)
	for _, kind := range []string{"Recorded", "GivenBack", "Lost", "Gone", "PaidTwice"} {
		r.add(t, kind, StateQueued)
	}
	r.add(t, "Unknown", StateUnknown)
	payments := len(r.queue)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, Workers{Seal: r, Logger: slog.New(r), Trace: trace}.Run(ctx, r, r))
	require.Len(t, r.records, payments)
	require.NotContains(t, r.lines.String(), "private")
}

func misbehaviours() map[string]func() {
	return map[string]func(){"panic": func() { panic(errors.New("private")) }, "Goexit": runtime.Goexit}
}

// No function of Trace can end Run or prevent records, whatever it does in all its calls.
func TestHooksMisbehave(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range misbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var trace Trace
				var mu sync.Mutex
				calls := make(map[string]int)
				hooks := reflect.ValueOf(&trace).Elem()
				for hook, f := range hooks.Fields() {
					f.Set(reflect.MakeFunc(hook.Type, func([]reflect.Value) []reflect.Value {
						mu.Lock()
						calls[hook.Name]++
						mu.Unlock()
						misbehaves()
						return nil
					}))
				}
				r := &rude{misbehaves: func() {}, short: true} // so that Failed is called
				runRude(t, r, trace)
				require.Len(t, calls, hooks.NumField())
				for hook, n := range calls {
					require.Equal(t, n, strings.Count(r.lines.String(), `msg="prepaid: a hook failed" hook=`+hook+` error="`), hook)
				}
				require.GreaterOrEqual(t, calls["Recorded"], each)
			})
		})
	}
}

// No method of the store, the sender, the AEAD or the log can end Run.
func TestCallersCodeMisbehaves(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range misbehaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &rude{misbehaves: misbehaves, calls: map[string]int{"Claim": 1}}
				require.Error(t, Workers{}.Run(t.Context(), r, r), "NotBefore failed before a claim")
				runRude(t, r, Trace{})
				notCalled := "Decide DirectEntryOut Encrypt WithAttrs WithGroup"
				for _, of := range []reflect.Type{reflect.TypeFor[Store](), reflect.TypeFor[Sender](), reflect.TypeFor[AEAD](), reflect.TypeFor[slog.Handler]()} {
					for method := range of.Methods() {
						if !strings.Contains(notCalled, method.Name) {
							require.Greater(t, r.calls[method.Name], 2, method.Name)
						}
					}
				}
			})
		})
	}
}

// A store whose results have a wrong number has failed: the outcomes are recorded again.
func TestStoreReturnsAWrongNumberOfResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 10)
		runRude(t, &rude{short: true}, Trace{
			Failed:    func(err error) { failed <- err },
			GivenBack: func(_ prepaid.RequestID, why error) { assert.ErrorIs(t, why, ErrNoParams) },
		})
		require.Len(t, failed, 4, "two claims, two records")
		for range 4 {
			require.ErrorIs(t, <-failed, errResults)
		}
	})
}
