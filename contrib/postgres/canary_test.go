package prepaidpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// canaries are the texts that must not leave the process in clear.
var canaries = []string{
	"CANARYSOURCE", "CANARYDEST", "CANARYUSER", "CANARYNAME", "90817263545", "271-828", "CANARYEAID", "CANARYKEY", "CANARYEXTRA",
}

// canaryBSB is no fraction of a second and no part of random hex digits.
var canaryBSB = regexp.MustCompile(`(^|[^.\w])(271828|314159)`)

func canaryTransfer(key string) prepaid.TransferParams {
	p := transfer(key)
	p.SourceReference, p.DestinationReference, p.InitiatorUsername, p.DestinationAccountID = "CANARYSOURCE", "CANARYDEST", "CANARYUSER", "CANARYEAID"
	p.Extra = `{"purpose":"CANARYEXTRA"}`
	return p
}

func canaryEntry(key string) prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: prepaid.DeriveRequestID(today(), "canary", key), Amount: prepaid.Cents(1000), SourceReference: "CANARYSOURCE",
		DestinationReference: "CANARYDEST", InitiatingUserID: "CANARYUSER", BSB: "314159",
		Destination: prepaid.BankAccount{BSB: "271828", AccountNumber: "90817263545", AccountName: "CANARYNAME"},
	}
}

func noCanary(t *testing.T, where, text string) {
	t.Helper()
	require.NotRegexp(t, canaryBSB, text, where)
	for _, canary := range canaries {
		require.NotContains(t, text, canary, where)
		require.NotContains(t, text, fmt.Sprintf("%x", canary), where) // as bytea in a dump
	}
}

// leakyAEAD prints its key.
type leakyAEAD struct {
	journal.AEAD
	key string
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// The database has no personal data in clear in any state of a payment, nor have logs, errors or printed values.
func TestNothingPersonalInClear(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	var log lockedBuffer
	options := testOptions(t)
	options.DigestKey = prepaid.NewSecret("CANARYKEY")
	options.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.Seal = leakyAEAD{options.Seal, "CANARYKEY"}
	store, err := Open(t.Context(), pool, options)
	require.NoError(t, err)
	s := testStore{store, t}

	done, refused, open, queued := canaryTransfer("done"), canaryEntry("refused"), canaryEntry("open"), canaryEntry("queued")
	s.enqueue(done, refused, open)
	sender := &teller{rest: time.Hour}
	sender.reply = func(_ context.Context, id prepaid.RequestID, _ time.Time) error {
		switch id {
		case refused.RequestID:
			return rejected()
		case open.RequestID:
			return sender.unknownNow()
		}
		return nil
	}
	var printed strings.Builder
	var mu sync.Mutex
	show := func(values ...any) {
		mu.Lock()
		defer mu.Unlock()
		for _, value := range values {
			fmt.Fprintf(&printed, "%v %+v %#v %s\n", value, value, value, value)
		}
	}
	workers := Workers{
		Settled: func(context.Context, pgx.Tx, journal.Entry) error { panic("CANARYNAME") },
		Trace: journal.Trace{
			Sent:     func(e journal.Entry, _ time.Duration, err error) { show(e, err) },
			Recorded: func(e journal.Entry) { show(e) },
			Failed:   func(err error) { show(err) },
		},
	}
	require.NoError(t, s.runUntil(sender, workers, func() bool {
		return s.are(journal.StateDone, done.RequestID)() && s.are(journal.StateRejected, refused.RequestID)() && s.are(journal.StateUnknown, open.RequestID)()
	}))
	s.enqueue(queued)

	changed := open
	changed.Destination.AccountNumber = "111"
	err = s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, "EA1", changed) })
	require.ErrorIs(t, err, journal.ErrChanged)
	show(err)
	broken := open
	broken.RequestID, broken.Destination.BSB = "CANARYNOT", "271-828"
	err = s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, "EA1", broken) })
	require.Error(t, err)
	show(err, store, options, workers)
	options.Logger.Info("options", "store", store, "options", options)
	s.exec("alter table prepaid.payments add constraint never check (amount < 0) not valid")
	err = s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, "EA1", canaryEntry("constraint")) })
	require.Error(t, err)
	show(err, errors.Unwrap(err))
	for e, err := range s.All(t.Context()) {
		require.NoError(t, err)
		show(e)
	}
	noCanary(t, "printed", printed.String())
	noCanary(t, "log", log.b.String())
	require.Contains(t, log.b.String(), "Settled failed")

	dump := exec.CommandContext(t.Context(), filepath.Join(binaries(t), "pg_dump"), "--inserts", "--dbname", pool.Config().ConnString())
	output, err := dump.CombinedOutput()
	require.NoError(t, err, string(output))
	noCanary(t, "dump", string(output))
	require.Contains(t, string(output), string(open.RequestID))
	require.Equal(t, "3", text(t, pool, "select count(sealed)::text from prepaid.payments"), "of those that may be sent again")
}

// binaries is where the server of the tests has its programs.
func binaries(t *testing.T) string {
	t.Helper()
	return text(t, emptyPool(t), "select setting from pg_config where name = 'BINDIR'")
}
