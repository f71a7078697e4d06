package fleettest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// replicaVariable makes the test binary a replica, and says which.
const replicaVariable = "PREPAID_TEST_REPLICA"

// replicaTask is the input of a replica process.
type replicaTask struct {
	Store     string
	BaseURL   string
	Vendor    string
	ClientID  string
	Word      string
	Account   prepaid.AccountID
	Callers   int
	For       time.Duration
	Replicas  int
	Allowance int
	Window    time.Duration
	Lease     time.Duration
}

// replicaResult is what it reports.
type replicaResult struct {
	OK      int
	Failed  int
	First   string // failure
	Longest time.Duration
	Changes []string
}

// Replica makes the test binary a replica if it was started as one, and then does not return. TestMain calls it. Open returns
// the pool of a limit at an address, and closes its connections.
func Replica(open func(address, name string) (fleet.Pool, func(), error)) {
	if text := os.Getenv(replicaVariable); text != "" {
		os.Exit(replicaMain(text, open))
	}
}

func replicaMain(text string, open func(address, name string) (fleet.Pool, func(), error)) int {
	var task replicaTask
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	pool, closePool, err := open(task.Store, limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer closePool()
	result, err := runReplica(task, pool)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		return 2
	}
	return 0
}

// runReplica calls the service with some callers side by side until the time is up.
func runReplica(task replicaTask, pool fleet.Pool) (*replicaResult, error) {
	result := &replicaResult{}
	began := time.Now()
	limiter, err := fleet.New(pool, fleet.Options{
		Replicas: task.Replicas, Allowance: task.Allowance, Window: task.Window, Lease: task.Lease,
		OnChange: func(s fleet.Status) {
			result.Changes = append(result.Changes, fmt.Sprintf("%.1fs shared=%t slots=%d replicas=%d", time.Since(began).Seconds(), s.Shared, s.Slots, s.Replicas))
		},
	})
	if err != nil {
		return nil, err
	}
	service, err := prepaid.NewClient(prepaid.Config{
		BaseURL: task.BaseURL, Vendor: task.Vendor, Environment: prepaid.EnvironmentTest,
		Credentials: prepaid.Credentials{ClientID: task.ClientID, ClientSecret: prepaid.NewSecret(task.Word)},
		Limiter:     limiter,
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = service.Close() }()
	var ok, failed, longest atomic.Int64
	var first atomic.Value
	var group sync.WaitGroup
	for range task.Callers {
		group.Go(func() {
			for time.Since(began) < task.For {
				at := time.Now()
				if _, err := service.Accounts.Get(context.Background(), task.Account); err != nil {
					failed.Add(1)
					first.CompareAndSwap(nil, err.Error())
					continue
				}
				ok.Add(1)
				for took := int64(time.Since(at)); ; {
					old := longest.Load()
					if took <= old || longest.CompareAndSwap(old, took) {
						break
					}
				}
			}
		})
	}
	group.Wait()
	err = limiter.Close()
	result.OK, result.Failed, result.Longest = int(ok.Load()), int(failed.Load()), time.Duration(longest.Load())
	result.First, _ = first.Load().(string)
	return result, err
}

// replica is a process that was started.
type replica struct {
	process *exec.Cmd
	lines   *bufio.Scanner
}

func startReplica(t *testing.T, task replicaTask) *replica {
	t.Helper()
	text, err := json.Marshal(task)
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	process := exec.CommandContext(context.WithoutCancel(t.Context()), program)
	process.Env = append(os.Environ(), replicaVariable+"="+string(text))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	r := &replica{process: process, lines: bufio.NewScanner(out)}
	t.Cleanup(r.kill)
	return r
}

func (r *replica) kill() {
	if r.process.ProcessState == nil {
		_ = r.process.Process.Kill()
		_ = r.process.Wait()
	}
}

// wait returns the result of a replica that ended by itself.
func (r *replica) wait(t *testing.T) replicaResult {
	t.Helper()
	if !r.lines.Scan() {
		require.NoError(t, errors.Join(errors.New("the replica gave no result"), r.lines.Err(), r.process.Wait()))
	}
	var result replicaResult
	require.NoError(t, json.Unmarshal(r.lines.Bytes(), &result))
	require.NoError(t, r.process.Wait())
	return result
}
