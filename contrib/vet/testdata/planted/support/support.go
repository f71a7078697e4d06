// Package support has the commands of a support tool.
package support

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// Mistake: server error only.
func createServer(ctx context.Context, c *prepaid.Client, p prepaid.CreateAccountParams) (*prepaid.AccountSummary, error) {
	for {
		account, err := c.Accounts.Create(ctx, p) // want: retry
		if errors.Is(err, prepaid.ErrServer) || errors.Is(err, context.DeadlineExceeded) {
			time.Sleep(2 * time.Second)
			continue
		}
		return account, err
	}
}

func createRate(ctx context.Context, c *prepaid.Client, p prepaid.CreateAccountParams) (*prepaid.AccountSummary, error) {
	for {
		account, err := c.Accounts.Create(ctx, p)
		if errors.Is(err, prepaid.ErrRateLimited) && prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed {
			time.Sleep(2 * time.Second)
			continue
		}
		return account, err
	}
}

// Mistake: struct literal from clock.
func dailyID(name string) prepaid.RequestID {
	now := time.Now().UTC()
	return prepaid.DeriveRequestID(prepaid.Date{Year: now.Year(), Month: now.Month(), Day: now.Day()}, "allowance", name) // want: requestid
}

func dayID(day time.Time, name string) prepaid.RequestID {
	return prepaid.DeriveRequestID(prepaid.Date{Year: day.Year(), Month: day.Month(), Day: day.Day()}, "allowance", name)
}

// Mistake: closed on one path only.
func stats(path string) (journal.Stats, error) {
	j, err := journalfile.Open(path, journalfile.Options{}) // want: journal
	if err != nil {
		return journal.Stats{}, err
	}
	s, err := j.Stats()
	if err != nil {
		return s, err
	}
	return s, j.Close()
}

func statsRight(path string) (journal.Stats, error) {
	j, err := journalfile.Open(path, journalfile.Options{})
	if err != nil {
		return journal.Stats{}, err
	}
	s, err := j.Stats()
	if err != nil {
		return s, errors.Join(err, j.Close())
	}
	return s, j.Close()
}

// Mistake: new id after window.
func payWindow(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, p prepaid.TransferParams) error {
	_, err := j.Transfer(ctx, c.Accounts, "EA1", p)
	switch {
	case errors.Is(err, journal.ErrWindow):
		p.RequestID = prepaid.DeriveRequestID(prepaid.Date{Year: 2026, Month: 11, Day: 20}, "again", p.SourceReference) // want: requestid
		_, err = j.Transfer(ctx, c.Accounts, "EA1", p)
		return err
	default:
		return err
	}
}

func payWindowRight(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, p prepaid.TransferParams) error {
	_, err := j.Transfer(ctx, c.Accounts, "EA1", p)
	switch {
	case errors.Is(err, journal.ErrWindow):
		finding, lookErr := c.Accounts.FindMovement(ctx, prepaid.FindMovementParams{AccountID: "EA1", Amount: p.Amount}.Between(p.LastSent, p.LastSent))
		if lookErr != nil {
			return errors.Join(err, lookErr)
		}
		return j.Resolve(p.RequestID, journal.Moved(finding.Transactions[0].ID))
	default:
		return err
	}
}
