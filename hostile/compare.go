package hostile

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Types of transactions of the emulator.
const (
	typeLoad           = "2950"
	typeTransfer       = "2951"
	typeDirectEntryOut = "2960"
)

// books has the movements of all accounts.
type books struct {
	debits  map[int][]prepaidtest.Transaction // of the paying account, by payment
	credits map[prepaid.TransactionID]prepaidtest.Transaction
	others  []prepaidtest.Transaction // debits of no payment
}

// read reads every account.
func (r *run) read() books {
	b := books{debits: make(map[int][]prepaidtest.Transaction), credits: make(map[prepaid.TransactionID]prepaidtest.Transaction)}
	for _, account := range r.server.AccountIDs() {
		for _, item := range r.server.Transactions(account) {
			amount, found := strings.CutPrefix(item.Amount, "-")
			n, known := r.orders.find("", amount)
			switch {
			case found && known && account == r.orders.float:
				b.debits[n] = append(b.debits[n], item)
			case !found && item.ParentID != "":
				b.credits[item.ParentID] = item
			case found:
				b.others = append(b.others, item)
			}
		}
	}
	return b
}

// report compares the accounts with the orders.
func (r *run) report(unfinished string) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.options
	report := &Report{Seed: o.Seed, Payments: o.Payments, Copies: o.Copies, Duration: r.since(), Counts: r.counts, Unfinished: unfinished}
	report.Restarts = int(r.restarts.Load())
	b, log := r.read(), r.requests()
	if what := noToken(log); what != "" && r.counts.Requests == 0 {
		if report.Unfinished = what; unfinished != "" {
			report.Unfinished = unfinished + ", and " + what
		}
	}
	for n, p := range r.orders.list {
		moved := b.debits[n]
		if len(moved) > 0 && !p.Rollback {
			report.Paid++
		}
		find := func(to *[]Finding, what string) {
			*to = append(*to, Finding{p, describe(p) + ": " + what, r.timeline(n, moved, log)})
		}
		switch {
		case p.Rollback && len(moved) > 0:
			find(&report.Unrequested, "was rolled back, and was made all the same")
		case len(moved) > 1:
			find(&report.Double, fmt.Sprintf("made %d times", len(moved)))
		case len(moved) == 0 && unfinished == "" && !p.Rollback && !r.orders.refused[n]:
			find(&report.Missing, "was never made")
		}
		if what := b.wrong(p, moved); what != "" {
			find(&report.Wrong, what)
		}
	}
	for _, item := range b.others {
		report.Unrequested = append(report.Unrequested, Finding{Text: fmt.Sprintf("transaction %s: %s from %s, which nobody ordered", item.ID, item.Amount, item.AccountID)})
	}
	report.Careless = r.careless(b, log)
	report.Claims = r.claims(b, log, unfinished == "")
	if unfinished != "" {
		report.Last = r.lastSeen(log)
	}
	return report
}

// noToken returns the reason why no worker has got a token. It is empty if a worker has got one.
func noToken(log map[int64]prepaidtest.Request) string {
	what, last := "no worker has requested a token", int64(0)
	for _, q := range log {
		switch {
		case q.Template != "/token":
		case q.Status == http.StatusOK:
			return ""
		case q.Arrival > last:
			last = q.Arrival
			what = strings.TrimSpace(fmt.Sprintf("no worker has got a token: requests failed, the last with %d %s", q.Status, q.ErrorCode))
		}
	}
	return what
}

// wrong describes a movement of the wrong type or to the wrong account. It ignores missing and second movements.
func (b books) wrong(p Payment, moved []prepaidtest.Transaction) string {
	for _, item := range moved {
		credit, transferred := b.credits[item.ID]
		switch {
		case p.Operation == DirectEntryOut && item.Type != typeDirectEntryOut:
			return "was made as a transfer"
		case p.Operation == Transfer && item.Type != typeTransfer && item.Type != typeLoad:
			return "was made as a direct entry"
		case transferred && credit.AccountID != p.DestinationAccountID:
			return "went to " + string(credit.AccountID)
		}
	}
	return ""
}

func describe(p Payment) string {
	to := string(p.DestinationAccountID)
	if p.Operation == DirectEntryOut {
		to = "a bank account"
	}
	return fmt.Sprintf("payment %q (%s of %s from %s to %s, request ID %s)", p.SourceReference, p.Operation, p.Amount, p.SourceAccountID, to, p.RequestID)
}

// claims compares the last summary of each copy with the accounts.
func (r *run) claims(b books, log map[int64]prepaidtest.Request, finished bool) (wrong []Finding) {
	said := make(map[prepaid.RequestID]bool) // whether any summary reports a known state
	for number := 1; number <= r.options.Copies; number++ {
		name := fmt.Sprintf("the summary of worker %d", number)
		text, err := os.ReadFile(r.summaryOf(number))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		claims, unreadable := readLines[Claim](text)
		if err := errors.Join(err, unreadable); err != nil {
			wrong = append(wrong, Finding{Text: name + " cannot be read: " + err.Error()})
		}
		for _, c := range claims {
			said[c.RequestID] = said[c.RequestID] || c.State != StateUnknown
			n, known := r.orders.byID[c.RequestID]
			moved, what := b.debits[n], ""
			switch {
			case !known:
				wrong = append(wrong, Finding{Text: fmt.Sprintf("%s names a payment that was not ordered: %s", name, c.RequestID)})
			case c.State == StatePaid && len(moved) == 0:
				what = "says paid, and no money moved"
			case c.State == StateRejected && len(moved) > 0:
				what = "says rejected, and the money moved"
			case c.State != StatePaid && c.State != StateRejected && c.State != StateUnknown:
				what = fmt.Sprintf("has an unknown state, %q", c.State)
			}
			if what != "" {
				p := r.orders.list[n]
				wrong = append(wrong, Finding{p, describe(p) + ": " + name + " " + what, r.timeline(n, moved, log)})
			}
		}
	}
	for n, p := range r.orders.list {
		if known, named := said[p.RequestID]; finished && named && !known {
			wrong = append(wrong, Finding{p, describe(p) + ": is unknown to all summaries, although status 0 says that it is settled", r.timeline(n, b.debits[n], log)})
		}
	}
	return wrong
}

// requests is the emulator's log by arrival number.
func (r *run) requests() map[int64]prepaidtest.Request {
	log := make(map[int64]prepaidtest.Request)
	for _, q := range r.server.Requests() {
		if q.Arrival > 0 {
			log[q.Arrival] = q
		}
	}
	return log
}

// line is a line of a timeline.
type line struct {
	at   time.Duration
	text string
}

// timeline lists the events of a payment: its requests, the events of the processes that sent them, and its movements. The
// caller holds the lock.
func (r *run) timeline(n int, moved []prepaidtest.Transaction, log map[int64]prepaidtest.Request) []string {
	var lines []line
	from := make(map[*process]time.Duration) // start of the process's first request, minus the longest freeze
	first, until := time.Duration(math.MaxInt64), time.Duration(0)
	for _, f := range r.flights {
		if f.payment != n {
			continue
		}
		if _, ok := from[f.process]; !ok {
			from[f.process] = f.at - 2*r.options.Freeze - time.Second
		}
		first, until = min(first, f.at), max(until, f.at, f.ended)
		lines = append(lines, r.flown(f, log)...)
	}
	for _, item := range moved {
		at := r.wall(item.OccurredAt)
		until = max(until, at)
		lines = append(lines, line{at, fmt.Sprintf("MONEY MOVED: %s, transaction %s", strings.TrimPrefix(item.Amount, "-"), item.ID)})
	}
	if len(lines) == 0 {
		return []string{"no request for it has arrived"}
	}
	for _, e := range r.events {
		began, ok := from[e.process]
		if (ok && e.at >= began || e.process == nil && e.at >= first-r.options.ServiceFreeze) && e.at <= until+time.Second {
			lines = append(lines, line{e.at, strings.TrimSpace(fmt.Sprint(nameOf(e.process), e.text))})
		}
	}
	return texts(lines)
}

func nameOf(p *process) string {
	if p == nil {
		return ""
	}
	return p.String() + " "
}

// texts sorts lines by time and formats them.
func texts(lines []line) []string {
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	list := make([]string, len(lines))
	for i, l := range lines {
		list[i] = fmt.Sprintf("%9.3f s  %s", l.at.Seconds(), l.text)
	}
	return list
}

// flown describes the arrival and the end of one request.
func (r *run) flown(f flight, log map[int64]prepaidtest.Request) []line {
	text := fmt.Sprintf("%s sends request %d of this payment", f.process, f.arrival)
	if f.requestID != r.orders.list[f.payment].RequestID {
		text += " under " + string(f.requestID)
	}
	if f.overlaps {
		text += ", WHILE AN EARLIER ONE STILL RUNS"
	}
	if f.fault != "" {
		text += "  [" + f.fault + "]"
	}
	lines := []line{{f.at, text}}
	request, end := fmt.Sprintf("request %d of %s ", f.arrival, f.process), "has no end yet"
	switch {
	case f.lost:
		return append(lines, line{f.reached, request + "is discarded by its sender: it never arrives"})
	case f.reached > 0:
		lines = append(lines, line{f.reached, request + "is handled now"})
	}
	if q, ok := log[f.number]; ok {
		switch {
		case q.Status == 0:
			end = "ends without a response"
		case q.Replayed:
			end = fmt.Sprintf("ends with %d, the cached response", q.Status)
		default:
			end = strings.TrimSpace(fmt.Sprintf("ends with %d %s", q.Status, q.ErrorCode))
		}
	}
	if f.ended > 0 {
		lines = append(lines, line{f.ended, request + end})
	}
	return lines
}

// wall converts the server's time to the time since the start of the run. The caller holds the lock.
func (r *run) wall(at time.Time) time.Duration {
	moved := time.Duration(0)
	for _, m := range r.moves {
		if at.After(m.from) {
			moved += m.by
		}
	}
	return at.Sub(r.clock) - moved
}

// lastSeen lists the last requests of an unfinished run. The caller holds the lock.
func (r *run) lastSeen(log map[int64]prepaidtest.Request) []string {
	last := []string{"the last requests:"}
	var lines []line
	for _, f := range r.flights[max(0, len(r.flights)-keptLines):] {
		for _, l := range r.flown(f, log) {
			lines = append(lines, line{l.at, l.text + " (" + r.orders.list[f.payment].SourceReference + ")"})
		}
	}
	last = append(last, texts(lines)...)
	if r.last != nil {
		last = append(last, fmt.Sprintf("the last lines of %s, which ended with %s:", r.last, r.last.cmd.ProcessState))
		last = append(last, r.last.output.tail()...)
	}
	return last
}
