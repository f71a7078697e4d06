//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package process

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// While a process is stopped, the service closes its kept connections. The first payments afterwards all succeed, each with one attempt.
// It is not parallel: a process that another test starts has the service's connections open, too, until it executes its program.
func TestFirstPaymentsAfterAFreeze(t *testing.T) { //nolint:paralleltest // see above
	for range 4 { // the goroutines that read the connections may notice in time
		t.Run("", firstPaymentsAfterAFreeze)
	}
}

func firstPaymentsAfterAFreeze(t *testing.T) {
	const payments = 40
	emulator := prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, RequestLog: 1, ClientID: "client", ClientSecret: "secret"})
	var requests atomic.Int32
	var together sync.WaitGroup
	together.Add(payments)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/transfer") && requests.Add(1) <= payments { // each needs a connection
			together.Done()
			together.Wait()
		}
		emulator.ServeHTTP(w, r)
	}))
	defer server.Close()
	cmd := command(t, job{
		Do: doFreeze, URL: server.URL + "/3.0/", Day: prepaid.DateOf(time.Now().UTC()), Payments: payments, Attempts: 1,
		From: emulator.AddAccount(prepaidtest.SeedAccount{Balance: "100000.00"}), To: emulator.AddAccount(prepaidtest.SeedAccount{}),
	})
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "kept\n", line)

	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err = syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	server.CloseClientConnections()
	_, err = io.WriteString(input, "x")
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, cmd.Wait())
	require.EqualValues(t, 2*payments, requests.Load())
}
