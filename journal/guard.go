package journal

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
)

// Names of the caller's code in errors.
const (
	senderName = "journal: sender"
	storeName  = "journal: store"
)

// guarded returns t with all functions set; none of them panics or ends its goroutine.
func (t Trace) guarded(log *slog.Logger) Trace {
	return Trace{
		Claimed:   hook1(log, "Claimed", t.Claimed),
		Sent:      hook3(log, "Sent", t.Sent),
		Recorded:  hook1(log, "Recorded", t.Recorded),
		GivenBack: hook2(log, "GivenBack", t.GivenBack),
		Lost:      hook1(log, "Lost", t.Lost),
		Gone:      hook1(log, "Gone", t.Gone),
		PaidTwice: hook2(log, "PaidTwice", t.PaidTwice),
		Failed:    hook1(log, "Failed", t.Failed),
	}
}

func hook1[A any](log *slog.Logger, name string, f func(A)) func(A) {
	if f == nil {
		return func(A) {}
	}
	return func(a A) { guard.Hook(log, name, func() { f(a) }) }
}

func hook2[A, B any](log *slog.Logger, name string, f func(A, B)) func(A, B) {
	if f == nil {
		return func(A, B) {}
	}
	return func(a A, b B) { guard.Hook(log, name, func() { f(a, b) }) }
}

func hook3[A, B, C any](log *slog.Logger, name string, f func(A, B, C)) func(A, B, C) {
	if f == nil {
		return func(A, B, C) {}
	}
	return func(a A, b B, c C) { guard.Hook(log, name, func() { f(a, b, c) }) }
}

// guardedSender is the caller's sender; [Run.Send] guards the calls that send.
type guardedSender struct {
	Sender

	rest time.Duration // the sender's wait before a repeat, when Run began
}

func (s guardedSender) NotBefore(lastSent time.Time) time.Time {
	at := lastSent.Add(s.rest)
	_ = guard.Call(func() { at = s.Sender.NotBefore(lastSent) })
	return at
}

func (s guardedSender) AwaitRepeat(ctx context.Context, source prepaid.AccountID, lastSent time.Time) error {
	return guard.Do(senderName, func() error { return s.Sender.AwaitRepeat(ctx, source, lastSent) })
}

var errResults = errors.New("journal: the store returned a wrong number of results")

// guardedStore is the caller's store. A wrong number of results is an error.
type guardedStore struct{ Store }

func (s guardedStore) Claim(ctx context.Context, c Claim) ([]Held, error) {
	list, err := guard.Get(storeName, func() ([]Held, error) { return s.Store.Claim(ctx, c) })
	if err == nil && len(list) > c.N {
		err = errResults
	}
	return list, err
}

// Record returns no result if the ends are not recorded.
func (s guardedStore) Record(ctx context.Context, ends []End) ([]Recorded, error) {
	recorded, err := guard.Get(storeName, func() ([]Recorded, error) { return s.Store.Record(ctx, ends) })
	switch {
	case err != nil && !errors.Is(err, ErrFailover):
		return nil, err
	case len(recorded) != len(ends):
		return nil, errors.Join(err, errResults)
	}
	return recorded, err
}

func (s guardedStore) Resting(ctx context.Context, admitted time.Time) (*Resting, error) {
	return guard.Get(storeName, func() (*Resting, error) { return s.Store.Resting(ctx, admitted) })
}
