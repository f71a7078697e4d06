// Package cronjobs: jobs by the clock.
package cronjobs

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/cardprograms/prepaid"
)

type Salary struct {
	Employee string
	Payday   prepaid.Date
	Account  prepaid.AccountID
	Amount   prepaid.Amount
}

// Scheduler is what cron libraries have.
type Scheduler interface {
	AddFunc(spec string, job func()) (int, error)
}

func Register(c Scheduler, client *prepaid.Client, salaries []Salary) {
	c.AddFunc("@monthly", func() {
		for _, s := range salaries {
			client.Accounts.Transfer(context.Background(), "EA1", prepaid.TransferParams{Amount: s.Amount, RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), s.Employee)}) // want: outcome requestid
		}
	})
	c.AddFunc("@monthly", func() {
		for _, s := range salaries {
			_, err := client.Accounts.Transfer(context.Background(), "EA1", prepaid.TransferParams{Amount: s.Amount, RequestID: prepaid.DeriveRequestID(s.Payday, s.Employee)})
			if err != nil {
				log.Printf("salary of %s: %v", s.Employee, err)
			}
		}
	})
}

func GoodSweep(ctx context.Context, client *prepaid.Client, s Salary) error {
	id := prepaid.RequestID(fmt.Sprintf("salary-%s-%s", s.Employee, time.Now().Format("2006-01")))
	_, err := client.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{RequestID: id, Amount: s.Amount})
	return err
}
