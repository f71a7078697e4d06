// Package jobs has workers that take payments from queues.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
)

type Job struct {
	ID       string                       `json:"id"`
	Account  prepaid.AccountID            `json:"account"`
	Funding  *prepaid.RedeemFundingParams `json:"funding"`
	Transfer *prepaid.TransferParams      `json:"transfer"`
	Tries    int                          `json:"tries"`
	LastSent time.Time                    `json:"last_sent"`
}

type Worker struct {
	jobs    chan Job
	funding interface {
		Redeem(context.Context, prepaid.RedeemFundingParams) (*prepaid.FundingResult, error)
	}
	accounts *prepaid.AccountsService
	store    Store
	log      *slog.Logger
}

type Store interface {
	Done(ctx context.Context, id string) error
	Failed(ctx context.Context, id string, err error) error
	Unknown(ctx context.Context, id string, lastSent time.Time) error
	SaveID(ctx context.Context, id string, request prepaid.RequestID) error
}

// Mistake: requeue of a redemption.

func (w *Worker) Redemptions(ctx context.Context) {
	for job := range w.jobs {
		res, err := w.funding.Redeem(ctx, *job.Funding) // want: retry
		if err != nil {
			w.log.Warn("redeem, again", "err", err)
			job.Tries++
			w.jobs <- job
			continue
		}
		w.log.Info("redeemed", "job", job.ID, "outcome", res.Outcome)
	}
}

// The right form.

func (w *Worker) RedemptionsRight(ctx context.Context) {
	for job := range w.jobs {
		res, err := w.funding.Redeem(ctx, *job.Funding)
		if prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed {
			w.jobs <- job
			continue
		}
		if err != nil {
			w.log.Error("redeem, for a person", "job", job.ID, "err", err)
			continue
		}
		w.log.Info("redeemed", "job", job.ID, "outcome", res.Outcome)
	}
}

// Mistake: ticker.

func (w *Worker) RedeemEvery(ctx context.Context, p prepaid.RedeemFundingParams) error {
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			if res, err := w.funding.Redeem(ctx, p); err != nil { // want: retry
				w.log.Warn("redeem", "err", err)
			} else if res.Approved() {
				return nil
			} else {
				return errors.New("declined")
			}
		}
	}
}

// The right form.

func (w *Worker) RedeemQueued(ctx context.Context, next func() prepaid.RedeemFundingParams) error {
	t := time.NewTicker(5 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			if res, err := w.funding.Redeem(ctx, next()); err != nil {
				return err
			} else if !res.Approved() {
				w.log.Warn("declined")
			}
		}
	}
}

// Mistake: one for all.

func (w *Worker) RetryAll(ctx context.Context, jobs []Job) (errs error) {
	var lastSent time.Time
	for _, job := range jobs {
		params := *job.Transfer
		params.LastSent = lastSent // want: outcome
		_, err := w.accounts.Transfer(ctx, job.Account, params)
		if call, ok := errors.AsType[*prepaid.CallError](err); ok {
			lastSent = call.LastSent
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

// The right form.

func (w *Worker) RetryAllRight(ctx context.Context, jobs []Job) (errs error) {
	for i, job := range jobs {
		params := *job.Transfer
		params.LastSent = job.LastSent
		_, err := w.accounts.Transfer(ctx, job.Account, params)
		if call, ok := errors.AsType[*prepaid.CallError](err); ok {
			jobs[i].LastSent = call.LastSent
		}
		errs = errors.Join(errs, err)
	}
	return errs
}

// Mistake: acknowledged before the work.

func (w *Worker) AckFirst(ctx context.Context, job Job) error {
	if err := w.store.Done(ctx, job.ID); err != nil { // want: webhook
		return err
	}
	_, err := w.accounts.Transfer(ctx, job.Account, *job.Transfer)
	return err
}

// The right form.

func (w *Worker) AckLast(ctx context.Context, job Job) error {
	if _, err := w.accounts.Transfer(ctx, job.Account, *job.Transfer); err != nil {
		return err
	}
	return w.store.Done(ctx, job.ID)
}
