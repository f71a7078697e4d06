package storetest_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/journal/storetest"
)

var errMistake = errors.New("mistake")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBubbles is storetest.Run in virtual time, for stores that are in this process.
func inBubbles(t *testing.T, open func(t testing.TB) storetest.Subject) {
	t.Helper()
	storetest.Each(func(name string, test func(testing.TB, storetest.Subject)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, open(t)) })
		})
	})
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(testing.TB) storetest.Subject { return newDatabase(0).subject() })
}

// newDatabase returns a database whose clock is ahead.
func newDatabase(ahead time.Duration) *database {
	return &database{now: func() time.Time { return time.Now().Add(ahead) }, rows: make(map[prepaid.RequestID]*row)}
}

func (d *database) subject() storetest.Subject {
	return storetest.Subject{
		Store: d,
		Enqueue: func(t testing.TB, account prepaid.AccountID, params prepaid.TransferParams) {
			d.enqueue(storetest.NewEntry(t, account, params))
		},
		Get: func(_ testing.TB, id prepaid.RequestID) journal.Entry {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.rows[id].entry
		},
		Restart: func(testing.TB) journal.Store { return d },
		Remove:  func(_ testing.TB, id prepaid.RequestID) { delete(d.rows, id) },
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	inBubbles(t, func(t testing.TB) storetest.Subject {
		options := journalfile.Options{DigestKey: storetest.DigestKey(), Seal: storetest.Seal()}
		path := filepath.Join(t.TempDir(), "1")
		j, err := journalfile.Open(path, options)
		require.NoError(t, err)
		t.Cleanup(func() { _ = j.Close() })
		return storetest.Subject{
			Store: j, OneProcess: true,
			Enqueue: func(t testing.TB, account prepaid.AccountID, params prepaid.TransferParams) {
				_, err := j.Transfer(t.Context(), unreachable{}, account, params)
				require.ErrorIs(t, err, errUnreachable)
			},
			Get: func(t testing.TB, id prepaid.RequestID) journal.Entry {
				e, known := j.Get(id)
				require.True(t, known)
				return e
			},
			Restart: func(t testing.TB) journal.Store { // opens a copy, which the dead Journal cannot change
				dead := j
				path = copied(t, path)
				j, err = journalfile.Open(path, options)
				require.NoError(t, err)
				t.Cleanup(func() { _, _ = dead.Close(), j.Close() })
				return j
			},
		}
	})
}

func copied(t testing.TB, path string) string {
	from, err := os.Open(path)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.Create(path + "1")
	require.NoError(t, err)
	defer to.Close()
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	return to.Name()
}

var errUnreachable = errors.New("not reachable")

// unreachable is a sender that sends nothing.
type unreachable struct{ journal.Sender }

func (unreachable) NotBefore(lastSent time.Time) time.Time { return lastSent }

func (unreachable) Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return nil, &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errUnreachable}
}
