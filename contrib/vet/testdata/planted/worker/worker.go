// Package worker: workers over a queue, and the store in PostgreSQL.
package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

type Msg struct {
	Body []byte
}

func (m Msg) Ack()  {}
func (m Msg) Nack() {}

type Job struct {
	ID      string
	To      prepaid.AccountID
	Amount  prepaid.Amount
	Euros   float64
	Attempt int
	Day     prepaid.Date
}

type Worker struct {
	client *prepaid.Client
	queue  chan Msg
	jobs   chan Job
}

// Nack puts the message back, and the next delivery pays under another ID: the ID is fresh per delivery.
func (w *Worker) GoodDelivery(ctx context.Context) {
	for m := range w.queue {
		var j Job
		if err := json.Unmarshal(m.Body, &j); err != nil {
			m.Nack()
			continue
		}
		_, err := w.client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: prepaid.RequestID("job-" + j.ID), Amount: j.Amount})
		if err != nil {
			slog.Error("job", "id", j.ID, "err", err)
			m.Nack()
			continue
		}
		m.Ack()
	}
}

func (w *Worker) BadAck(ctx context.Context) {
	for m := range w.queue {
		var p prepaid.TransferParams
		if err := json.Unmarshal(m.Body, &p); err != nil {
			m.Nack()
			continue
		}
		if _, err := w.client.Accounts.Transfer(ctx, "EA1", p); err != nil { // want: outcome
			m.Nack()
			continue
		}
		m.Ack()
	}
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
