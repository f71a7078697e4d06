package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// shownRows is the number of printed rows: a real report may have millions.
const shownRows = 6

func (q *quickstart) report(ctx context.Context) error {
	q.title("Run a report and stream its rows")
	if q.template == "" {
		q.say("skipped: PREPAID_REPORT_TEMPLATE is not set")
		return nil
	}
	report, err := q.client.Reporting.Run(ctx, q.template, prepaid.RunReportParams{IncludeColumnHeaders: true, WaitForPrevious: true})
	if err != nil {
		return err
	}
	defer report.Close()
	q.say("template %s, run %s", q.template, report.Run().ID)
	rows := 0
	for row, err := range report.Rows() {
		if err != nil {
			return err
		}
		if rows++; rows <= shownRows {
			q.say("%s", strings.Join(row, "  "))
		}
	}
	total, _ := report.TotalRecords()
	q.say("%d rows read, including the header row, the first %d shown; the service counted %d records", rows, min(rows, shownRows), total)
	return nil
}

func (q *quickstart) lostResponse(ctx context.Context) error {
	q.title("Lose the response to a transfer: the outcome is unknown, and resolved without paying twice")
	if q.emulator == nil {
		q.say("skipped: only the emulator inside this process can drop the connection")
		return nil
	}
	from, to := q.cards[0], q.cards[len(q.cards)-1]
	config := q.config
	config.Retry.MaxAttempts = 1 // by default the SDK repeats the request itself
	once, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer once.Close() //nolint:errcheck // never fails
	params := transferParams("lost", "15.00", to)
	before := q.emulator.Balance(from.id)
	q.say("%s pays 15.00 to %s, and the connection drops after the service has booked it", from.key, to.key)
	q.emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	_, err = once.Accounts.Transfer(ctx, from.id, params)
	q.say("first try: %v", err)
	if prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown {
		return errors.New("the outcome should be unknown")
	}
	finding, err := q.client.Accounts.FindMovement(ctx, prepaid.FindMovementParams{
		AccountID: from.id, Amount: params.Amount, VisibleWithin: 5 * time.Second,
	}.Around(err))
	if err != nil {
		return err
	}
	q.say("search the history: seen")
	for _, t := range finding.Transactions {
		q.say("  transaction %s, %s %s", t.ID, t.TypeDescription, t.Amount)
	}
	result, err := q.client.Accounts.Transfer(ctx, from.id, params)
	if err != nil {
		return err
	}
	q.say("same params again: applied, transaction %s", result.TransactionID)
	q.say("balance of %s: %s before, %s now; of %s: %s now",
		from.key, before, q.emulator.Balance(from.id), to.key, q.emulator.Balance(to.id))
	q.say("%d movement with request ID %s", q.emulator.Movements(params.RequestID), params.RequestID)
	return nil
}

// addUp compares the balance of each account with the sum of its history.
func (q *quickstart) addUp(ctx context.Context) error {
	q.title("Add up: every balance is the sum of its history")
	accounts := slices.Clip(q.cards)
	if q.emulator != nil { // not on the service: a real float account has a long history
		accounts = append(accounts, card{key: "float", id: q.float})
	}
	const columns = "%-5s  %5v  %9s  %9s"
	q.say(columns, "KEY", "ITEMS", "SUM", "BALANCE")
	for _, c := range accounts {
		items, sum := 0, prepaid.Amount{}
		for t, err := range q.client.Accounts.Transactions(ctx, c.id, prepaid.ListTransactionsParams{}) {
			if err == nil {
				items++
				sum, err = sum.Add(t.Amount)
			}
			if err != nil {
				return err
			}
		}
		balance, err := q.balance(ctx, c.id)
		if err != nil {
			return err
		}
		if sum != balance {
			return fmt.Errorf("the balance of %s is %s, and its history adds up to %s", c.key, balance, sum)
		}
		q.say(columns+"  adds up", c.key, items, sum, balance)
	}
	return nil
}
