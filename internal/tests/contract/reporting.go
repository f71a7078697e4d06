package contract

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const fixtureCSV = "account_id,amount,merchant\r\n" +
	"EA-700100200,-25.50,\"Corner Store, Sydney\"\r\n" +
	"EA-700100201,100.00,\"The \"\"Green\"\" Grocer\"\r\n"

func reportingFixtures() []Case {
	return append(reportStartFixtures(), reportResultFixtures()...)
}

func reportStartFixtures() []Case {
	start := func(headers bool) fixtureCall[*prepaid.ReportRun] {
		return fixtureOf("Reporting.Start", func(ctx context.Context, client *prepaid.Client) (*prepaid.ReportRun, error) {
			run, err := client.Reporting.Start(ctx, "daily_settlement", prepaid.StartReportParams{IncludeColumnHeaders: headers})
			if err != nil {
				return run, err
			}
			if run.RequestedAt.IsZero() || run.RequestedAt.After(time.Now()) {
				return nil, errors.New("the time of the request is wrong")
			}
			run.RequestedAt = time.Time{}
			return run, nil
		})
	}
	run := &prepaid.ReportRun{Template: "daily_settlement", ID: "rpt-20261120-7c1d0b", ColumnHeaders: true}
	return append(start(true).usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		start(true).gives("200-bare", run),
		start(true).gives("200-quoted", run),
		start(false).gives("200-application-json", &prepaid.ReportRun{Template: run.Template, ID: run.ID}),
		start(true).refused("400", "invalid_template", prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		start(true).refused("409", "duplicate_request", prepaid.ErrConflict, prepaid.OutcomeRejected),
		start(true).throttled(),
	)
}

func reportResultFixtures() []Case {
	run := prepaid.ReportRun{Template: "daily_settlement", ID: "rpt-20261120-7c1d0b", ColumnHeaders: true}
	result := fixtureWith[*prepaid.Report]("Reporting.Result", run)
	streamed := fixtureOf("Reporting.Result", func(ctx context.Context, client *prepaid.Client) (*prepaid.Report, error) {
		reader, err := client.Reporting.Open(ctx, run, prepaid.WaitOptions{})
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		return reader.Report()
	})
	rows := fixtureOf("Reporting.Result", func(ctx context.Context, client *prepaid.Client) ([][]string, error) {
		reader, err := client.Reporting.Open(ctx, run, prepaid.WaitOptions{})
		if err != nil {
			return nil, err
		}
		defer reader.Close()
		var rows [][]string
		for row, err := range reader.Rows() {
			if err != nil {
				return nil, err
			}
			rows = append(rows, slices.Clone(row))
		}
		return rows, nil
	})
	failed := func(t *testing.T, _ *Fixture, err error) { require.ErrorIs(t, err, prepaid.ErrReportFailed) }
	notReady := func(t *testing.T, _ *Fixture, err error) { require.ErrorIs(t, err, prepaid.ErrReportNotReady) }
	return append(result.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		result.gives("200", &prepaid.Report{Data: fixtureCSV, TotalRecords: 2}),
		streamed.gives("200", &prepaid.Report{Data: fixtureCSV, TotalRecords: 2}),
		rows.gives("200", [][]string{
			{"account_id", "amount", "merchant"},
			{"EA-700100200", "-25.50", "Corner Store, Sydney"},
			{"EA-700100201", "100.00", `The "Green" Grocer`},
		}),
		result.gives("200-numbers-as-strings", &prepaid.Report{Data: fixtureCSV, TotalRecords: 2}),
		streamed.gives("200-numbers-as-strings", &prepaid.Report{Data: fixtureCSV, TotalRecords: 2}),
		result.fails("204", prepaid.OutcomeNotProcessed, notReady),
		result.fails("204-empty", prepaid.OutcomeNotProcessed, notReady),
		result.refused("400", "invalid_report", prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		streamed.refused("400", "invalid_report", prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		result.fails("500", prepaid.OutcomeNotProcessed, failed),
		streamed.fails("500", prepaid.OutcomeNotProcessed, failed),
	)
}
