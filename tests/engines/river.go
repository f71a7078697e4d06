package engines

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/cardprograms/prepaid"
)

// Kind names the job in River's table.
func (Payment) Kind() string { return "payment" }

// RiverWorker makes the payments of River's jobs.
type RiverWorker struct {
	river.WorkerDefaults[Payment]

	Accounts *prepaid.AccountsService
}

// Timeout leaves time for a repeat within the run: 40 s after a lost response.
func (*RiverWorker) Timeout(*river.Job[Payment]) time.Duration { return 2 * time.Minute }

// Work makes one payment.
func (w *RiverWorker) Work(ctx context.Context, job *river.Job[Payment]) error {
	var sent time.Time
	if failed := len(job.Errors); failed > 0 {
		sent = job.Errors[failed-1].At // when River recorded the last run's error, or gave the run up
	}
	again, err := Pay(ctx, w.Accounts, job.Args, sent)
	if err != nil && !again {
		return river.JobCancel(err)
	}
	return err
}
