package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// view is what is shown at a moment.
type view struct {
	at        time.Duration
	service   string
	postgres  string
	away      bool // Postgres does not respond: the figures are older
	shut      bool // there will be no more orders
	taken     int  // orders
	most      int  // orders that there will be; 0 if unknown
	refused   int
	again     int
	paid      int
	rejected  int
	person    int // payments for which a person must decide
	unknown   int
	queued    int
	sending   int // also by a worker that died
	oldest    time.Duration
	rate      float64 // payments a second, of late
	processes []standing
	events    []event
}

const barWidth = 30

// line is the view where there is no terminal.
func (v view) line() string {
	return fmt.Sprintf("%5.1f s  orders %d, paid %d, queued %d, sending %d, unknown %d, oldest %.1f s, %.0f/s%s",
		v.at.Seconds(), v.taken, v.paid, v.queued, v.sending, v.unknown, v.oldest.Seconds(), v.rate, v.trouble())
}

func (v view) trouble() string {
	if v.away {
		return " (Postgres does not respond)"
	}
	return ""
}

// lines are the view on a terminal.
func (v view) lines() []string {
	lines := []string{
		fmt.Sprintf("payouts   %s, %s   %.0f s%s", v.postgres, v.service, v.at.Seconds(), v.trouble()),
		"",
		fmt.Sprintf("orders  %7d   rolled back %d, posted again %d", v.taken, v.refused, v.again),
		fmt.Sprintf("paid    %7d   %s %3d %%   %.0f/s", v.paid, bar(v.paid, v.total()), percent(v.paid, v.total()), v.rate),
		fmt.Sprintf("queued  %7d   sending %d, unknown %d, rejected %d, for a person %d, oldest %.1f s", v.queued, v.sending, v.unknown, v.rejected, v.person, v.oldest.Seconds()),
		"",
	}
	for _, p := range v.processes {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-9s %7s   %-16s %s", p.Name, pid(p.PID), p.Doing, done(p)), " "))
	}
	lines = append(lines, "")
	for n := range shownEvents { // always as many, so that the keys stay where they are
		if n < len(v.events) {
			lines = append(lines, fmt.Sprintf("%5.1f s  %s", v.events[n].at.Seconds(), v.events[n].text))
			continue
		}
		lines = append(lines, "")
	}
	return append(lines, "", v.keys())
}

func (v view) keys() string {
	if v.shut {
		return "ends as soon as everything is paid   k 1 2 3 kill a worker   Ctrl+C give up"
	}
	return "k 1 2 3 kill a worker   f freeze one   w kill web   p kill Postgres   l lose responses   q finish"
}

// total is what the bar compares with: the orders there will be, or those there are.
func (v view) total() int { return max(v.taken, v.most-v.refused) }

func bar(part, whole int) string {
	filled := 0
	if whole > 0 {
		filled = min(barWidth, barWidth*part/whole)
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled) + "]"
}

func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

func pid(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// done is what a process has done in all its runs.
func done(p standing) string {
	var parts []string
	for _, part := range []struct {
		n    int64
		name string
	}{{p.Orders, "requests"}, {p.Paid, "paid"}, {p.Unknown, "unknown"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	if p.Kills > 0 {
		parts = append(parts, "killed "+plural(p.Kills, "time"))
	}
	return strings.Join(parts, ", ")
}

// view puts together what is shown.
func (d *demo) view(f figures) view {
	v := view{
		at: time.Since(d.began), service: d.service.String(), postgres: d.postgres.String(), away: f.away, shut: f.shut,
		most: d.customers.most, events: d.events.recent(),
		paid: f.stats.Done.Count, rejected: f.stats.Rejected.Count, unknown: f.stats.Unknown.Count,
		queued: f.stats.Queued.Count + f.stats.NotSent.Count, sending: f.stats.Intended.Count, oldest: max(f.stats.OldestQueued, f.stats.OldestUnknown), person: f.stats.Waiting, rate: f.rate,
	}
	v.taken, v.refused, v.again = d.customers.counts()
	for _, p := range d.processes() {
		v.processes = append(v.processes, p.standing())
	}
	return v
}
