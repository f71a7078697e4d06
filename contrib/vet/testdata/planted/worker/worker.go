// Package worker: workers, and a journal in a file.
package worker

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

type Job struct {
	ID     string
	To     prepaid.AccountID
	Amount prepaid.Amount
	Day    prepaid.Date
}

type Worker struct {
	client *prepaid.Client
}

func params(j Job, id prepaid.RequestID) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: id, Amount: j.Amount, DestinationAccountID: j.To}
}

func (w *Worker) BadAttemptID(ctx context.Context, j Job) (err error) {
	for attempt := 1; attempt <= 3; attempt++ {
		id := prepaid.DeriveRequestID(j.Day, j.ID, strconv.Itoa(attempt))
		_, err = w.client.Accounts.Transfer(ctx, "EA1", params(j, id)) // want: outcome requestid
		if err == nil {
			return nil
		}
	}
	return err
}

func (w *Worker) GoodParts(ctx context.Context, j Job, parts []prepaid.Amount) error {
	for i, part := range parts {
		id := prepaid.RequestID(j.ID + "-" + strconv.Itoa(i))
		if _, err := w.client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id, Amount: part}); err != nil {
			return err
		}
	}
	return nil
}

func BadWithdraw(j *journalfile.Journal, id prepaid.RequestID) {
	j.Withdraw(id) // want: outcome
}

func GoodWithdraw(j *journalfile.Journal, id prepaid.RequestID) error { return j.Withdraw(id) }

func BadJournalID(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, job Job) error {
	_, err := j.Transfer(ctx, c.Accounts, "EA1", prepaid.TransferParams{
		RequestID: prepaid.RequestID(job.ID + time.Now().Format(time.RFC3339Nano)), // want: requestid
		Amount:    job.Amount,
	})
	return err
}

func GoodJournalID(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, job Job) error {
	_, err := j.Transfer(ctx, c.Accounts, "EA1", prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: job.Amount})
	return err
}

func BadResume(ctx context.Context, j *journalfile.Journal, c *prepaid.Client) (n int) {
	for _, err := range j.Resume(ctx, c.Accounts, 4) { // want: iterator
		if err != nil {
			continue
		}
		n++
	}
	return n
}

func GoodResume(ctx context.Context, j *journalfile.Journal, c *prepaid.Client) (n int) {
	for e, err := range j.Resume(ctx, c.Accounts, 4) {
		if err != nil {
			slog.Error("resume", "id", e.RequestID, "err", err)
			continue
		}
		n++
	}
	return n
}
