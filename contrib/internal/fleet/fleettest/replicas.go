package fleettest

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// trial is an emulated service and what its replicas report.
type trial struct {
	service   *prepaidtest.Server
	task      replicaTask
	allowance int
	window    time.Duration
}

// newTrial has a limit of 100 requests per second of window.
func newTrial(t *testing.T, s Backend, window time.Duration, replicas int) *trial {
	t.Helper()
	allowance := int(window / (10 * time.Millisecond))
	lease := window / 4
	s.Used(t, limit)
	service := prepaidtest.NewServer(t, prepaidtest.RateLimit(allowance, window), prepaidtest.RequestLog(100_000))
	config := service.Config()
	return &trial{service: service, allowance: allowance, window: window, task: replicaTask{
		Store: s.Address(), BaseURL: config.BaseURL, Vendor: config.Vendor,
		ClientID: config.Credentials.ClientID, Word: config.Credentials.ClientSecret.Reveal(),
		Account: service.AddAccount(prepaidtest.SeedAccount{}),
		Callers: 40, Replicas: replicas, Allowance: allowance, Window: window, Lease: lease,
	}}
}

// arrivals are the times of all requests; none was refused.
func (f *trial) arrivals(t *testing.T) []time.Time {
	t.Helper()
	var times []time.Time
	for _, r := range f.service.Requests() {
		require.NotEqual(t, http.StatusTooManyRequests, r.Status, "request %d, %s after the first", len(times), r.Time.Sub(f.service.Requests()[0].Time))
		times = append(times, r.Time)
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// usage is the part of the allowance that was used between the start of the first of the service's windows that begins
// at from or later, and that of the last.
func (f *trial) usage(times []time.Time, from, until time.Time) float64 {
	var first, opened time.Time
	var count, used int
	for _, at := range times {
		if at.Before(from) || at.After(until) {
			continue
		}
		if opened.IsZero() || !at.Before(opened.Add(f.window)) {
			if first.IsZero() {
				first = at
			}
			opened, used = at, count
		}
		count++
	}
	return float64(used) / (float64(f.allowance) * opened.Sub(first).Seconds() / f.window.Seconds())
}

// busiest is the largest number of requests within any window, sliding.
func (f *trial) busiest(times []time.Time) int {
	most, start := 0, 0
	for i, at := range times {
		for at.Sub(times[start]) >= f.window {
			start++
		}
		most = max(most, i-start+1)
	}
	return most
}

// check checks that no call was lost.
func check(t *testing.T, name string, results ...replicaResult) {
	t.Helper()
	for i, r := range results {
		t.Logf("%s: replica %d: %d calls, longest %s, %v", name, i+1, r.OK, r.Longest.Round(time.Millisecond), r.Changes)
		require.Zero(t, r.Failed, r.First)
		require.Positive(t, r.OK)
	}
}

// run starts so many replicas and returns what they did, in order.
func (f *trial) run(t *testing.T, replicas int, meanwhile func([]*replica)) []replicaResult {
	t.Helper()
	started := make([]*replica, 0, replicas)
	for range replicas {
		started = append(started, startReplica(t, f.task))
	}
	meanwhile(started)
	var results []replicaResult
	for _, r := range started {
		if r.process.ProcessState == nil {
			results = append(results, r.wait(t))
		}
	}
	return results
}

// ReplicasShareTheLimit checks that three processes use the allowance and no more.
func ReplicasShareTheLimit(t *testing.T, s Backend) {
	f := newTrial(t, s, 2*time.Second, 0)
	f.task.For = 5 * time.Second
	results := f.run(t, 3, func([]*replica) {})
	check(t, "shared", results...)
	times := f.arrivals(t)
	used := f.usage(times, times[0], times[len(times)-1])
	t.Logf("%d requests, none refused; %.1f %% of the allowance; at most %d of %d in any window", len(times), used*100, f.busiest(times), f.allowance)
	require.GreaterOrEqual(t, used, 0.97)
	require.LessOrEqual(t, f.busiest(times), f.allowance)
}

// StoreKilledInTheMiddle checks that three processes go on without the server, and share again once it is back.
func StoreKilledInTheMiddle(t *testing.T, s Backend) {
	f := newTrial(t, s, time.Second, 3)
	f.task.For = 7 * time.Second
	began := time.Now()
	var killed, back time.Time
	results := f.run(t, 3, func([]*replica) {
		time.Sleep(2 * time.Second)
		killed = time.Now()
		s.Kill(t)
		time.Sleep(3 * time.Second)
		back = time.Now()
		s.Start(t)
	})
	check(t, "killed", results...)
	for _, r := range results {
		require.Len(t, r.Changes, 3)
	}
	times := f.arrivals(t)
	shared, alone, again := f.usage(times, times[0], killed), f.usage(times, killed, back), f.usage(times, back, began.Add(f.task.For))
	t.Logf("%d requests, none refused; %.1f %% of the allowance before, %.1f %% without the store, %.1f %% afterwards; at most %d of %d in any window",
		len(times), shared*100, alone*100, again*100, f.busiest(times), f.allowance)
	require.Greater(t, alone, 0.8)
	require.Greater(t, again, 0.8)
	require.LessOrEqual(t, f.busiest(times), f.allowance)
}

// ReplicaKilledInTheMiddle checks that what a killed replica owned is the others' again, once its lease has ended and the
// slots have rested.
func ReplicaKilledInTheMiddle(t *testing.T, s Backend) {
	f := newTrial(t, s, time.Second, 0)
	f.task.For = 5 * time.Second
	began := time.Now()
	var killed time.Time
	results := f.run(t, 2, func(replicas []*replica) {
		time.Sleep(1500 * time.Millisecond)
		killed = time.Now()
		replicas[0].kill()
	})
	check(t, "left over", results...)
	times := f.arrivals(t)
	gone := f.task.Lease + f.window + f.window/10
	used := f.usage(times, killed.Add(gone+f.window/2), began.Add(f.task.For))
	t.Logf("%d requests, none refused; %.1f %% of the allowance by the one that is left", len(times), used*100)
	require.Greater(t, used, 0.8)
	require.LessOrEqual(t, f.busiest(times), f.allowance)
}
