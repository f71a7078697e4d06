package hostile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
)

// notes is a database with one line per command: "begin ID" stores an intent and returns its state, "done ID" an outcome.
func notes(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		wait.Wait()
	})
	var mu sync.Mutex
	known := make(map[string]string)
	serve := func(connection net.Conn) {
		defer connection.Close()
		for lines := bufio.NewScanner(connection); lines.Scan(); {
			verb, id, _ := strings.Cut(lines.Text(), " ")
			mu.Lock()
			was := known[id]
			if was != "done" {
				known[id] = verb
			}
			mu.Unlock()
			fmt.Fprintf(connection, "ok %s\n", was)
		}
	}
	wait.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { serve(connection) })
		}
	})
	return "notes://" + listener.Addr().String()
}

// wired pays one payment after another, and ends when it loses its database.
func wired(ctx context.Context, job hostile.Job) error {
	client, err := fromEnv()
	if err != nil {
		return err
	}
	defer client.Close()
	address, err := url.Parse(job.Database)
	if err != nil {
		return err
	}
	database, err := net.Dial("tcp", address.Host)
	if err != nil {
		return err
	}
	defer database.Close()
	lines := bufio.NewReader(database)
	ask := func(verb string, id prepaid.RequestID) (string, error) {
		fmt.Fprintln(database, verb, id)
		line, err := lines.ReadString('\n')
		return strings.TrimSpace(strings.TrimPrefix(line, "ok")), err
	}
	for _, p := range job.Payments {
		was, err := ask("begin", p.RequestID)
		if err != nil {
			return err
		}
		if was == "done" {
			continue
		}
		// No request continues here: a begun payment can be sent again at once.
		if err := pay(ctx, client, p); err != nil && !errors.Is(err, prepaid.ErrTransferFailed) {
			return err
		}
		if _, err := ask("done", p.RequestID); err != nil {
			return err
		}
	}
	return nil
}

func TestDatabaseIsCutBetweenResponseAndOutcome(t *testing.T) {
	t.Parallel()
	report := hostile.Test(t, hostile.Options{
		Worker: "wired", Database: notes(t), Seed: 4, Payments: 20, Copies: 1, Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: -1, ServiceFreezes: -1, Cuts: 4, ClockMoves: 2,
		AttemptTimeout: 20 * time.Second, // a slow response is no lost one
	})
	require.Equal(t, 4, report.Cuts)
	require.Equal(t, 2, report.ClockMoves)
	require.GreaterOrEqual(t, report.Restarts, 4)
	require.Greater(t, report.Requests, 20, "a payment whose outcome was lost is sent again")
}
