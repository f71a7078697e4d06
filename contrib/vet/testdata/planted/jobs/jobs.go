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
	ID      string                       `json:"id"`
	Funding *prepaid.RedeemFundingParams `json:"funding"`
}

type Worker struct {
	jobs    chan Job
	review  chan Job
	funding interface {
		Redeem(context.Context, prepaid.RedeemFundingParams) (*prepaid.FundingResult, error)
	}
	log *slog.Logger
}

// Mistake: requeue of a redemption.
func (w *Worker) Redemptions(ctx context.Context) {
	for job := range w.jobs {
		res, err := w.funding.Redeem(ctx, *job.Funding) // want: retry
		if err != nil {
			w.log.Warn("redeem, again", "err", err)
			w.jobs <- job
			continue
		}
		w.log.Info("redeemed", "job", job.ID, "outcome", res.Outcome)
	}
}

func (w *Worker) RedemptionsRight(ctx context.Context) {
	for job := range w.jobs {
		res, err := w.funding.Redeem(ctx, *job.Funding)
		if prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed {
			w.jobs <- job
			continue
		}
		if err != nil {
			w.review <- job
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
