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

func (q *quickstart) report(ctx context.Context) error {
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
		if rows++; rows <= 6 { // a real report may have millions
			q.say("%s", strings.Join(row, "  "))
		}
	}
	total, _ := report.TotalRecords()
	q.say("%d rows read, including the header row; the service counted %d records", rows, total)
	return nil
}

func (q *quickstart) lostResponse(ctx context.Context) error {
	if q.emulator == nil {
		q.say("skipped: only the emulator inside this process can drop the connection")
		return nil
	}
	from, to := q.cards[0], q.cards[len(q.cards)-1]
	// By default the SDK repeats the request itself.
	once, err := q.client.With(prepaid.Overrides{Retry: prepaid.RetryPolicy{MaxAttempts: 1}})
	if err != nil {
		return err
	}
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

func (q *quickstart) addUp(ctx context.Context) error {
	accounts := slices.Clip(q.cards)
	if q.emulator != nil { // not on the service: a real float account has a long history
		accounts = append(accounts, card{key: "float", id: q.float})
	}
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
		account, err := q.client.Accounts.Summary(ctx, c.id)
		if err != nil {
			return err
		}
		if sum != account.Balance {
			return fmt.Errorf("the balance of %s is %s, and its history adds up to %s", c.key, account.Balance, sum)
		}
		q.say("%-5s  %d items, sum %9s, balance %9s  adds up", c.key, items, sum, account.Balance)
	}
	return nil
}
