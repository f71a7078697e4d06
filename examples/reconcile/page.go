package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
)

//go:embed page.html
var pageText string

const (
	listed      = 100 // accounts with their own line on the page, in addition to all that do not reconcile
	tabledDates = 25  // maximum in the table next to the charts
)

// page is the data of page.html. It contains nothing personal: accounts are identified by their ID.
type page struct {
	Company     string
	Client      string
	From, To    string
	Zone        string
	Made        string
	Currency    string
	Good        bool
	Verdict     string
	Again       int
	Total       *statement
	Unexplained prepaid.Amount
	Unread      int // accounts
	Program     chart
	Accounts    []chart
	Heads       []string // of the table of balances: program and accounts
	Balances    []balanceLine
	Lines       []*statement
	Hidden      int // accounts without a line
}

// balanceLine is a date and a balance for each chart.
type balanceLine struct {
	Date     string
	Balances []prepaid.Amount
}

func newPage(opts options, now time.Time, s *summary) *page {
	p := &page{
		Company: opts.company.String(), Client: opts.clientID, From: s.days.first.String(), To: s.days.last().String(),
		Zone: s.days.zone.String(), Made: now.UTC().Format("2006-01-02 15:04 UTC"), Currency: s.total.Currency,
		Good: s.faulty == 0, Verdict: s.verdict(), Again: s.again, Total: &s.total, Unexplained: s.rest, Unread: s.unread,
		Program: newChart("program", "All accounts", s.days, s.balances), Heads: []string{"All accounts"},
	}
	drawn := []*series{s.balances}
	for i, account := range s.top {
		p.Accounts = append(p.Accounts, newChart("account-"+strconv.Itoa(i+1), string(account.ID), s.days, account.balances))
		p.Heads = append(p.Heads, string(account.ID))
		drawn = append(drawn, account.balances)
	}
	p.Balances = tabled(s.days, drawn)
	p.Lines = listing(s.statements)
	p.Hidden = len(s.statements) - len(p.Lines)
	return p
}

// listing sorts accounts that do not reconcile first, then those with the largest turnover.
func listing(statements []*statement) []*statement {
	lines := slices.Clone(statements)
	size := func(s *statement) prepaid.Amount {
		turnover, _ := s.turnover() // summary.rank has made the same sum
		return turnover
	}
	wrong := func(s *statement) int {
		if s.Problem != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(lines, func(a, b *statement) int {
		return cmp.Or(cmp.Compare(wrong(a), wrong(b)), size(b).Compare(size(a)), cmp.Compare(a.ID, b.ID))
	})
	good := slices.IndexFunc(lines, func(s *statement) bool { return s.Problem == "" })
	return lines[:min(len(lines), max(good, 0)+listed)]
}

// tabled shows the data of the charts as figures: the balances at the ends of months, or of the points of a short
// window.
func tabled(w window, drawn []*series) []balanceLine {
	points := len(drawn[0].points)
	date := func(point int) prepaid.Date { return w.day(drawn[0].lastDay(w, point)) }
	var ends []int
	for point := range points {
		if points <= tabledDates || point == points-1 || date(point).Month != date(point+1).Month {
			ends = append(ends, point)
		}
	}
	lines := []balanceLine{}
	stride := (len(ends) + tabledDates - 1) / tabledDates
	for i, point := range ends {
		if (len(ends)-1-i)%stride != 0 {
			continue
		}
		line := balanceLine{Date: date(point).String()}
		for _, s := range drawn {
			line.Balances = append(line.Balances, s.points[point])
		}
		lines = append(lines, line)
	}
	return lines
}

// writePage writes HTML that needs nothing else: no script, no other file, no network.
func writePage(to io.Writer, p *page) error {
	layout, err := template.New("page").Funcs(template.FuncMap{
		"money": func(a prepaid.Amount) string { return typographic(money(a)) }, "count": grouped, "sign": typographic,
	}).Parse(pageText)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(to)
	if err := layout.Execute(buffered, p); err != nil {
		return err
	}
	return buffered.Flush()
}
