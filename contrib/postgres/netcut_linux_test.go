package prepaidpg

import (
	"flag"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/internal/tests/netns"
	"github.com/cardprograms/prepaid/journal"
)

var defaults = flag.Bool("defaults", false, "TestWorkersOverACutLink with the default times: a quarter of an hour")

// Workers make each payment once while their link to the service is repeatedly cut and one of them is killed.
func TestWorkersOverACutLink(t *testing.T) {
	t.Parallel()
	const all = 400
	attempt, rest, patience := killAttempt, killRest, time.Minute
	if *defaults {
		attempt, rest, patience = 30*time.Second, 10*time.Second, 15*time.Minute
	}
	link, pace := netns.New(t), startPace(t)
	b := bank.Serve(t, link.Listen(), bank.Options{Takes: func(id string, _ int) time.Duration {
		if strings.ContainsAny(id[len(id)-1:], "258") {
			return rest / 2
		}
		return rest / 100
	}})
	s := newStore(t)
	s.exec(`create table orders (request_id text primary key, state text); create table books (request_id text, state text)`)
	require.NoError(t, s.in(func(tx pgx.Tx) error {
		_, err := s.EnqueueBatch(t.Context(), tx, func(yield func(journal.Payment, error) bool) {
			for i := range all {
				params := transfer("")
				params.RequestID = prepaid.RequestID("order-" + strconv.Itoa(i))
				if !yield(journal.Payment{Account: "EA1", Params: params}, nil) {
					return
				}
			}
		})
		return err
	}))
	start := func() *exec.Cmd {
		worker := workerCommand(t, workerSetup{Database: s.pool.Config().ConnString(), Emulator: b.URL, Defaults: *defaults})
		require.NoError(t, link.Start(worker))
		return worker
	}
	workers := []*exec.Cmd{start(), start()}
	kill := func(i int) {
		_ = workers[i].Process.Kill()
		_ = workers[i].Wait() // killed
	}
	t.Cleanup(func() {
		for i := range workers {
			kill(i)
		}
	})
	link.Interrupt(t, attempt+rest, patience, func(count int) bool { return b.Count().Paid > all*(count+1)/10 }, func(count int) {
		kill(count % 2)
		workers[count%2] = start()
	})
	require.Eventually(t, func() bool {
		stats, err := s.Stats(t.Context())
		return err == nil && stats.Done.Count == all
	}, patience, 20*time.Millisecond)
	count := b.Count()
	t.Logf("%d payments, %d requests read, %d paid twice", count.Paid, count.Requests, len(count.Twice))
	if late := time.Duration(pace.late.Load()); len(count.Twice) > 0 && late > (attempt+rest/2)/3 {
		t.Skipf("too slow to tell: a timer was %v late", late)
	}
	require.Equal(t, all, count.Paid)
	require.Empty(t, count.Twice)
}
