package engines

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cardprograms/prepaid"
)

// TemporalActivities are the activities of a Temporal worker.
type TemporalActivities struct {
	Accounts *prepaid.AccountsService
}

// Pay makes one payment.
func (a *TemporalActivities) Pay(ctx context.Context, p Payment) error {
	var sent time.Time
	if activity.GetInfo(ctx).Attempt > 1 {
		sent = time.Now() // an earlier run may have sent until now: Temporal reports only this run's start
	}
	again, err := Pay(ctx, a.Accounts, p, sent)
	if err != nil && !again {
		return temporal.NewNonRetryableApplicationError(err.Error(), prepaid.OutcomeOf(err).String(), err)
	}
	return err
}

// Payout is a workflow of one payment. Temporal may start it again any number of times.
func Payout(ctx workflow.Context, p Payment) error {
	var activities *TemporalActivities
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    2 * time.Minute,     // enough for a repeat 40 s after a lost response
		ScheduleToCloseTimeout: 21 * 24 * time.Hour, // an ID expires after 22 days
	}), activities.Pay, p).Get(ctx, nil)
}
