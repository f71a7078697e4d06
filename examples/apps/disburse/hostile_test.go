package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
)

// disburser runs the program on a file made of a hostile run's payments.
func disburser(ctx context.Context, job hostile.Job) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	file := filepath.Join(job.Dir, "payments.csv")
	ids := make(map[string]prepaid.RequestID)
	var rows strings.Builder
	rows.WriteString(columns + "\n")
	for n, p := range job.Payments {
		key := fmt.Sprint("row-", n)
		rows.WriteString(row(key, p.DestinationAccountID, p.Amount.String()) + "\n")
		ids[key] = p.RequestID
	}
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		return err
	}
	s := defaults(config)
	s.booking, s.rateWindow, s.grace, s.workers = 20*time.Millisecond, 0, time.Minute, 8
	code := s.run(ctx, []string{
		"-file", file, "-run", "hostile", "-date", time.Now().UTC().Format(time.DateOnly), "-float", string(job.Payments[0].SourceAccountID),
	}, io.Discard, os.Stderr)
	if code != exitPaid && code != exitRefused {
		return fmt.Errorf("exit status %d", code)
	}
	return claimsOf(job, file+".summary.csv", ids)
}

// claimsOf translates the summary.
func claimsOf(job hostile.Job, name string, ids map[string]prepaid.RequestID) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	var claims []hostile.Claim
	for _, line := range lines {
		if id, ok := ids[line[1]]; ok {
			state := hostile.StateRejected
			if line[3] == statePaid {
				state = hostile.StatePaid
			}
			claims = append(claims, hostile.Claim{RequestID: id, State: state})
		}
	}
	if len(claims) != len(job.Payments) {
		err = errors.Join(err, errors.New("the summary does not have all rows"))
	}
	return errors.Join(err, job.Summarize(claims))
}

func TestHostile(t *testing.T) {
	t.Parallel()
	report := hostile.Test(t, hostile.Options{Worker: "disburse", Payments: 40, TransfersOnly: true, Copies: 1})
	require.Positive(t, report.Kills)
}
