package main

import "fmt"

// benchCase has benchmarks, and the rows that show them.
type benchCase struct {
	name        string
	benchmark   string // without the prefix
	time        string // duration of a run, or number of its operations
	count       int    // runs per process
	full, quick int    // processes
	rows        func(*measurements) []row
}

func cases() []benchCase {
	return []benchCase{
		{"account", "Account", "900x", 4, 10, 3, func(m *measurements) []row {
			return callRows(m, "Account", "one account", "if not decoded", 0.34, 0.56, 20)
		}},
		{"accounts page", "AccountPage", "100x", 4, 8, 2, func(m *measurements) []row {
			return pageRows(m, "AccountPage", "100 accounts", 0.30)
		}},
		{"transactions page", "TransactionPage", "100x", 4, 8, 2, func(m *measurements) []row {
			return pageRows(m, "TransactionPage", "100 transactions", 0.22)
		}},
		{"transfer", "Transfer", "900x", 4, 10, 3, func(m *measurements) []row {
			return callRows(m, "Transfer", "one transfer", "if encoded before and not decoded", 0.90, 0.78, 22)
		}},
		{"loopback", "Loopback", "900x", 2, 10, 3, loopbackRows},
		{"pages", "Pages", "1x", 1, 3, 1, iterationRows},
		{"report", "Report", "1x", 1, 5, 1, reportRows},
		{"start", "Start", "1x", 1, 150, 30, startRows},
		{"token renewal", "TokenRenewal", "1x", 1, 1, 1, renewalRows},
		{"token", "Token", "1s", 1, 5, 1, tokenRows},
		{"limiter", "Limiter", "1s", 1, 7, 3, limiterRows},
		{"limiter, ours", slotsPrefix + "$/^response", "1s", 1, 7, 3, nil},
		{"limiter, a line of callers", slotsPrefix + "Line", "1s", 1, 1, 1, nil},
		{"size", "Size", "1x", 1, 1, 1, sizeRows},
	}
}

// slotsPrefix begins the names of the benchmarks of a limiter that never blocks. Such a limiter is not public, so they are in package
// slots.
const slotsPrefix = "SlotLimiter"

// callRows has the goals of one call. One row shows the time of the least possible work; the condition (when) completes its name.
func callRows(m *measurements, benchmark, name, when string, duration, bytes, allocations float64) []row {
	baseline, ours := benchmark+"/side=baseline ", benchmark+"/side=ours "
	return []row{
		atMost(name+", time", m.median(baseline+"cpu-sec/op"), m.median(ours+"cpu-sec/op"), duration, seconds),
		shown(name+", time "+when, m.median(baseline+"cpu-sec/op"), m.median(benchmark+"/side=least cpu-sec/op"), seconds),
		atMost(name+", bytes", m.median(baseline+"B/op"), m.median(ours+"B/op"), bytes, kilobytes).counted(),
		// Package testing rounds down.
		bounded(name+", allocations", m.median(ours+"allocs/op"), allocations, count).from(m.median(baseline+"allocs/op"), count).counted(),
	}
}

func pageRows(m *measurements, benchmark, name string, bytes float64) []row {
	baseline, ours := benchmark+"/side=baseline ", benchmark+"/side=ours "
	return []row{
		atMost(name+", time", m.median(baseline+"cpu-sec/op"), m.median(ours+"cpu-sec/op"), 0.18, seconds),
		atMost(name+", bytes", m.median(baseline+"B/op"), m.median(ours+"B/op"), bytes, kilobytes).counted(),
	}
}

// loopbackRows has the goals of the client's side of a call over TCP. The client's transfer also sets two options of the connection,
// so that no part of the request arrives after the attempt.
func loopbackRows(m *measurements) []row {
	compared := func(call string, limit float64) row {
		benchmark := "Loopback/call=" + call
		return atMost("one "+call+" over TCP, client's processor time", m.median(benchmark+"/side=baseline cpu-sec/op"),
			m.median(benchmark+"/side=ours cpu-sec/op"), limit, seconds)
	}
	return []row{compared("account", 0.90), compared("transfer", 1.10)}
}

func iterationRows(m *measurements) []row {
	const pages = 100
	one := "Pages/window=1 "
	page, beyond, left := m.median(one+"sec/op")/pages, m.most(one+"beyond"), m.most(one+"goroutines")
	var rows []row
	for _, window := range []int{4, 8, 16} {
		name, benchmark := fmt.Sprintf("100 pages, window %d", window), fmt.Sprintf("Pages/window=%d ", window)
		// The first page is requested alone: its response has the number of pages. A round takes as long as a single page.
		bound := 1 + (pages-1+window-1)/window
		rows = append(rows,
			atMost(name+", rounds", float64(bound), m.median(benchmark+"sec/op")/page, 1.1, decimals),
			bounded(name+", pages held", m.most(benchmark+"held"), float64(window), count).counted(),
			bounded(name+", pages too many on an early stop", m.most(benchmark+"unneeded"), float64(window-1), count).counted(),
		)
		beyond, left = max(beyond, m.most(benchmark+"beyond")), max(left, m.most(benchmark+"goroutines"))
	}
	return append(rows,
		bounded("100 pages, requests beyond 100", beyond, 0, count).counted(),
		bounded("100 pages, goroutines left", left, 0, count).counted(),
	)
}

func reportRows(m *measurements) []row {
	speed := func(name string) float64 { return 256 << 20 / m.median("Report/task="+name+" cpu-sec/op") }
	memory := func(name string) float64 { return m.median("Report/task=" + name + " peak-bytes") }
	most := memory("none/side=baseline") + 6e6
	file, short := memory("file/side=ours"), memory("one_row/side=ours")
	return []row{
		atLeast("report of 256 MB, rows, client's processor time", speed("rows/side=baseline"), speed("rows/side=ours"), 1, perSecond),
		atLeast("report of 256 MB, text to a file, client's processor time",
			speed("file/side=baseline"), speed("file/side=ours"), 0.25, perSecond),
		bounded("report of 256 MB, rows, resident memory", memory("rows/side=ours"), most, megabytes).
			from(memory("strings/side=baseline"), megabytes).
			because("the baseline is a program that makes a string of each row and does nothing else: the heap grows to 4 MB before the collector runs"),
		bounded("report of 256 MB, text to a file, resident memory", file, most, megabytes).from(short, megabytes).
			because("the baseline is the same program reading a report of one row: nearly all of it is the program's own pages"),
		bounded("report of 256 MB, text to a file, memory more than for one row", file-short, 1e6, megabytes),
	}
}

func startRows(m *measurements) []row {
	rows := func(version string, limit float64, other, name, why string) []row {
		first := func(side string) float64 {
			return m.median("Start/version=" + version + "/side=" + side + " first-sec/op")
		}
		whole := "process start to first response, HTTP/" + version
		return []row{
			atMost(whole, first("baseline"), first("ours"), limit, seconds).because(why + ", see the next row"),
			atMost(whole+", next to the baseline "+name, first(other), first("ours"), limit, seconds),
		}
	}
	return append(
		rows("2", 1.07, "linked", "in the client's program", "page faults and tables of the larger program count"),
		rows("1.1", 1.15, "two", "on two connections", "over HTTP/1.1 a token request has its own connection")...)
}

func renewalRows(m *measurements) []row {
	stalled := bounded("1,000 callers and a renewal of 200 ms, stalled", m.most("TokenRenewal/side=ours stalled"), 0, count)
	return []row{stalled.from(m.median("TokenRenewal/side=baseline stalled"), count)}
}

func tokenRows(m *measurements) []row {
	// This is the minimum, not the median: if a core is busy elsewhere, the time doubles, and nothing makes the time too short.
	baseline, ours := m.least("Token/side=baseline sec/op"), m.least("Token/side=ours sec/op")
	cheap := bounded("a valid token, a call at 2 cores", ours, 30e-9, seconds).from(baseline, seconds)
	cheap.ratio = fmt.Sprintf("%.2f", ours/baseline)
	return []row{cheap, bounded("a valid token, allocations", m.most("Token/side=ours allocs/op"), 0, count).counted()}
}

func limiterRows(m *measurements) []row {
	const ours = "SlotLimiter/response "
	return []row{
		atMost("limiter, acquire and release", m.median("Limiter/side=baseline sec/op"), m.median(ours+"sec/op"), 2, seconds),
		bounded("limiter, allocations", m.most(ours+"allocs/op"), 0, count).counted(),
		bounded("limiter, overtaken in a line of 10,000", m.most("SlotLimiterLine overtaken"), 0, count).counted(),
	}
}

// sizeRows compares two small programs, stripped.
func sizeRows(m *measurements) []row {
	plain, client := m.median("Size/side=baseline program-bytes"), m.median("Size/side=ours program-bytes")
	r := bounded("size of a small program, stripped", client-plain, 1.90e6, megabytes).from(plain, megabytes).counted()
	r.ratio, r.ours, r.goal = "+"+r.ours, megabytes(client), "<= +1.90 MB"
	return []row{r}
}
