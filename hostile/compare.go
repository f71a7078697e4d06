package hostile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// books has the movements of all accounts, and the emulator's log.
type books struct {
	*run
	debits map[int][]prepaidtest.Transaction // of the paying account, by payment
	others []prepaidtest.Transaction         // debits of no payment
	log    map[int64]prepaidtest.Request     // by arrival number
	found  []Finding
}

// read reads every account, and the log.
func (r *run) read() *books {
	b := &books{run: r, debits: make(map[int][]prepaidtest.Transaction), log: make(map[int64]prepaidtest.Request)}
	for _, account := range r.server.AccountIDs() {
		for _, item := range r.server.Transactions(account) {
			amount, debit := strings.CutPrefix(item.Amount, "-")
			n, known := r.orders.find("", amount)
			switch {
			case debit && known && account == r.orders.float:
				b.debits[n] = append(b.debits[n], item)
			case debit:
				b.others = append(b.others, item)
			}
		}
	}
	for _, q := range r.server.Requests() {
		if q.Arrival > 0 {
			b.log[q.Arrival] = q
		}
	}
	return b
}

// report compares the accounts with the orders.
func (r *run) report(unfinished string) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.read()
	for n := range r.orders.list {
		switch moved := b.debits[n]; {
		case len(moved) > 1:
			b.find(PaidTwice, n, fmt.Sprintf("made %d times", len(moved)))
		case len(moved) == 0 && unfinished == "" && !r.orders.refused[n]:
			b.find(NotPaid, n, "was never made")
		}
	}
	for _, item := range b.others {
		b.found = append(b.found, Finding{Kind: PaidUnordered, Text: fmt.Sprintf("transaction %s: %s from %s was not ordered", item.ID, item.Amount, item.AccountID)})
	}
	b.careless()
	b.claims(unfinished == "")
	return &Report{
		Seed: r.options.Seed, Payments: r.options.Payments, Paid: len(b.debits), Duration: r.since(), Counts: r.counts, Findings: b.found,
		Unfinished: unfinished,
	}
}

// find adds a finding about a payment.
func (b *books) find(kind Kind, n int, what string) {
	p := b.orders.list[n]
	to := string(p.DestinationAccountID)
	if p.Operation == DirectEntryOut {
		to = "a bank account"
	}
	text := fmt.Sprintf("payment %q (%s of %s from %s to %s, request ID %s): %s", p.SourceReference, p.Operation, p.Amount, p.SourceAccountID, to, p.RequestID, what)
	b.found = append(b.found, Finding{kind, text, b.timeline(n)})
}

// careless finds payments that were not made twice, although a request overtook another: the overtaken request may have been refused.
func (b *books) careless() {
	overtook := make(map[int]int) // by payment
	for _, f := range b.flights {
		if f.overlaps && len(b.debits[f.payment]) < 2 {
			overtook[f.payment] = f.arrival
		}
	}
	for _, n := range slices.Sorted(maps.Keys(overtook)) {
		b.find(SentWrongly, n, fmt.Sprintf("request %d was sent while an earlier one still ran", overtook[n]))
	}
}

// claims compares the last summary of each copy with the accounts.
func (b *books) claims(finished bool) {
	said := make(map[int]bool) // by payment: whether any summary reports a known state
	for number := 1; number <= b.options.Copies; number++ {
		name := fmt.Sprintf("the summary of worker %d", number)
		claims, err := readLines[Claim](b.summaryOf(number))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.found = append(b.found, Finding{Kind: ReportedWrongly, Text: name + " cannot be read: " + err.Error()})
		}
		for _, c := range claims {
			n, known := b.orders.byID[c.RequestID]
			if !known {
				b.found = append(b.found, Finding{Kind: ReportedWrongly, Text: fmt.Sprintf("%s names a payment that was not ordered: %s", name, c.RequestID)})
				continue
			}
			said[n] = said[n] || c.State != StateUnknown
			switch moved := len(b.debits[n]) > 0; {
			case c.State == StatePaid && !moved:
				b.find(ReportedWrongly, n, name+" says paid, and no money moved")
			case c.State == StateRejected && moved:
				b.find(ReportedWrongly, n, name+" says rejected, and the money moved")
			case !slices.Contains([]State{StatePaid, StateRejected, StateUnknown}, c.State):
				b.find(ReportedWrongly, n, fmt.Sprintf("%s has an unknown state, %q", name, c.State))
			}
		}
	}
	for n := range b.orders.list {
		if known, named := said[n]; finished && named && !known {
			b.find(ReportedWrongly, n, "is unknown to all summaries, although status 0 says that its outcome is final")
		}
	}
}

// line is a line of a timeline.
type line struct {
	at   time.Duration
	text string
}

// timeline lists the requests and movements of a payment, and the events of the processes that sent the requests.
func (b *books) timeline(n int) []string {
	var lines []line
	senders := map[*process]bool{nil: true}
	for _, f := range b.flights {
		if f.payment == n {
			senders[f.process] = true
			lines = append(lines, b.flown(f)...)
		}
	}
	for _, item := range b.debits[n] {
		text := fmt.Sprintf("MONEY MOVED: %s, transaction %s", strings.TrimPrefix(item.Amount, "-"), item.ID)
		lines = append(lines, line{item.OccurredAt.Sub(b.clock), text})
	}
	if len(lines) == 0 {
		return []string{"no request for it has arrived"}
	}
	for _, e := range b.events {
		switch {
		case e.process == nil:
			lines = append(lines, line{e.at, e.text})
		case senders[e.process]:
			lines = append(lines, line{e.at, e.process.String() + " " + e.text})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	list := make([]string, len(lines))
	for i, l := range lines {
		list[i] = fmt.Sprintf("%9.3f s  %s", l.at.Seconds(), l.text)
	}
	return list
}

// flown describes the arrival and the end of one request.
func (b *books) flown(f flight) []line {
	text := fmt.Sprintf("%s sends request %d of this payment", f.process, f.arrival)
	if f.requestID != b.orders.list[f.payment].RequestID {
		text += " under " + string(f.requestID)
	}
	if f.overlaps {
		text += ", WHILE AN EARLIER ONE STILL RUNS"
	}
	if f.fault != "" {
		text += "  [" + f.fault + "]"
	}
	lines := []line{{f.at, text}}
	request := fmt.Sprintf("request %d of %s ", f.arrival, f.process)
	switch {
	case f.lost:
		return append(lines, line{f.reached, request + "is discarded by its sender: it never arrives"})
	case f.reached > 0:
		lines = append(lines, line{f.reached, request + "is handled now"})
	}
	if f.ended == 0 {
		return lines
	}
	end := "ends without a response"
	if q, ok := b.log[f.number]; ok && q.Status != 0 {
		end = strings.TrimSpace(fmt.Sprintf("ends with %d %s", q.Status, q.ErrorCode))
		if q.Replayed {
			end += ", the cached response"
		}
	}
	return append(lines, line{f.ended, request + end})
}
