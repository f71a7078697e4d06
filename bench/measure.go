package main

import (
	"runtime"
	"slices"
	"syscall"
	"time"
)

// side is one of the two sides of a comparison. The function setup prepares one round; each use of call is one unit of work.
type side struct {
	name  string
	setup func() (call func() error, done func(), err error)
}

// cost is the cost of one unit of work.
type cost struct {
	nanoseconds float64
	bytes       float64
	allocations float64
}

// processTime returns the processor time of this process, including the garbage collector's. Other work on the machine
// does not count, so this time is steadier than wall time.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// round measures n units of work of s. The garbage collector runs before the measurement, so that no side pays for the
// other side's garbage.
func (s side) round(n int) (cost, error) {
	call, done, err := s.setup()
	if err != nil {
		return cost{}, err
	}
	defer done()
	for range 3 { // fills pools and connections
		if err := call(); err != nil {
			return cost{}, err
		}
	}
	runtime.GC()
	for range 2 {
		if err := call(); err != nil {
			return cost{}, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processTime()
	for range n {
		if err := call(); err != nil {
			return cost{}, err
		}
	}
	took := processTime() - began
	runtime.ReadMemStats(&after)
	return cost{
		nanoseconds: float64(took.Nanoseconds()) / float64(n),
		bytes:       float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
		allocations: float64(after.Mallocs-before.Mallocs) / float64(n),
	}, nil
}

// compare measures baseline and ours alternately, and returns the medians of the rounds.
func compare(rounds, n int, baseline, ours side) (cost, cost, error) {
	var costs [2][]cost
	for i := range 2 * rounds {
		which := (i + i/2) % 2 // baseline, ours, ours, baseline: machine drift affects both
		one := baseline
		if which == 1 {
			one = ours
		}
		c, err := one.round(n)
		if err != nil {
			return cost{}, cost{}, err
		}
		costs[which] = append(costs[which], c)
	}
	return middle(costs[0]), middle(costs[1]), nil
}

func middle(costs []cost) cost {
	pick := func(field func(cost) float64) float64 {
		values := make([]float64, len(costs))
		for i, c := range costs {
			values[i] = field(c)
		}
		return median(values)
	}
	return cost{
		nanoseconds: pick(func(c cost) float64 { return c.nanoseconds }),
		bytes:       pick(func(c cost) float64 { return c.bytes }),
		allocations: pick(func(c cost) float64 { return c.allocations }),
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}
