package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

const reportJSON = `{"reportdata":"id,amount\r\n1,2.50\r\n2,3.00\r\n","totalrecords":2}`

func notReady() harness.Step {
	return harness.Respond(204, harness.VendorJSON, "")
}

func ready() harness.Step { return harness.Respond(200, harness.VendorJSON, reportJSON) }

func reportClient(t *testing.T, service http.RoundTripper) *prepaid.Client {
	t.Helper()
	return harness.NewClient(t, harness.ClockConfig(service))
}

var aRun = prepaid.ReportRun{Template: "daily", ID: "run-1", ColumnHeaders: true}

// A run is started, polled ever more slowly, and streamed; the caller is informed of the run and of each poll.
func TestReportRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Respond(200, harness.OctetStream, "run-1"),
			notReady(), notReady(), notReady(), notReady(), notReady(), notReady(), ready())
		var progress []prepaid.ReportProgress
		var stored prepaid.ReportRun
		began := time.Now()
		reader, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{
			IncludeColumnHeaders: true,
			OnStart: func(run prepaid.ReportRun) error {
				stored = run
				return nil
			},
			OnProgress: func(p prepaid.ReportProgress) { progress = append(progress, p) },
		})
		require.NoError(t, err)
		require.Equal(t, prepaid.ReportRun{Template: "daily", ID: "run-1", RequestedAt: began.UTC(), ColumnHeaders: true}, stored)
		require.Equal(t, stored, reader.Run())
		var rows []string
		for row, err := range reader.Rows() {
			require.NoError(t, err)
			rows = append(rows, strings.Join(row, "|"))
		}
		require.Equal(t, []string{"id|amount", "1|2.50", "2|3.00"}, rows)

		requests := service.Requests()
		require.Equal(t, "/3.0/reporting/templates/daily?include_column_headers=true", requests[0].Target)
		for _, poll := range requests[1:] {
			require.Equal(t, "/3.0/reporting/templates/daily/reports/run-1", poll.Target)
		}
		require.Equal(t, []time.Duration{0, 1e9, 2e9, 4e9, 8e9, 15e9, 15e9}, service.Gaps())
		for i, p := range progress[:6] {
			require.Equal(t, prepaid.ReportProgress{Polls: i + 1}, p)
		}
		last := progress[len(progress)-1]
		require.Equal(t, 7, last.Polls)
		require.EqualValues(t, 3, last.Records)
	})
}

// Whatever the ID is, the run is not lost: reads escape it, and if that is not possible the error has it.
func TestReportRunOfAnyID(t *testing.T) {
	t.Parallel()
	for id, path := range map[string]string{
		"2026/11/24": "2026%2F11%2F24", `a\b`: "a%5Cb", "50%": "50%25", "a b": "a%20b", "...": "...", "a..b": "a..b",
		".": "", "..": "", "../run": "", `a/..\b`: "", "a\xff": "",
	} {
		service := harness.NewScript(harness.Respond(200, harness.OctetStream, id), ready())
		reader, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{})
		if path != "" {
			require.NoError(t, err, id)
			require.NoError(t, reader.Close())
			require.Equal(t, "/3.0/reporting/templates/daily/reports/"+path, service.Requests()[1].Target)
			continue
		}
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err), id)
		failure := harness.As[*prepaid.ReportError](t, err)
		require.Equal(t, id, failure.Run.ID)
		require.NotContains(t, fmt.Sprintf("%+v %#v", err, failure), "../run")
	}
	service := harness.NewScript(harness.Respond(200, harness.OctetStream, "run-1"), harness.ServiceError(500, "server_error"))
	_, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{})
	require.ErrorIs(t, err, prepaid.ErrReportFailed)
	failure := harness.As[*prepaid.ReportError](t, err)
	require.Equal(t, "run-1", failure.Run.ID)
}

// A conflict is returned or, with WaitForPrevious, waited out.
func TestReportRunConflict(t *testing.T) {
	t.Parallel()
	conflict := harness.ServiceError(409, "duplicate")
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(conflict)
		_, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{})
		require.ErrorIs(t, err, prepaid.ErrConflict)
		require.Equal(t, prepaid.OutcomeRejected, harness.CallError(t, err).Outcome)
		require.Len(t, service.Requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(conflict, conflict, harness.Respond(200, harness.OctetStream, "run-2"), ready())
		reader, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{WaitForPrevious: true})
		require.NoError(t, err)
		require.Equal(t, "run-2", reader.Run().ID)
		require.NoError(t, reader.Close())
		require.Equal(t, []time.Duration{1e9, 2e9, 0}, service.Gaps())
		require.Contains(t, service.Requests()[0].Target, "include_column_headers=false", "always sent")
	})
	synctest.Test(t, func(t *testing.T) { // only a conflict is waited out
		service := harness.NewScript(conflict, harness.Broken(harness.ErrCut))
		_, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{WaitForPrevious: true})
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
		require.Len(t, service.Requests(), 2)
	})
	synctest.Test(t, func(t *testing.T) { // of the service's own word: a gateway's may hide a run that began
		service := harness.NewScript(harness.Respond(409, "text/html", harness.HTMLPage))
		_, err := reportClient(t, service).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{WaitForPrevious: true})
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
		require.ErrorIs(t, err, prepaid.ErrConflict)
		require.Len(t, service.Requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) { // and not into the deadline
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		_, err := reportClient(t, harness.NewScript(conflict)).Reporting.Run(ctx, "daily", prepaid.RunReportParams{WaitForPrevious: true})
		require.ErrorIs(t, err, prepaid.ErrConflict)
		require.Equal(t, 7*time.Second, time.Since(began))
	})
}

// A run that could not be stored is not waited for, but it was started.
func TestReportRunOnStartError(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk full")
	service := harness.NewScript(harness.Respond(200, harness.OctetStream, "run-1"))
	config := service.Config()
	_, err := harness.NewClient(t, config).Reporting.Run(t.Context(), "daily", prepaid.RunReportParams{
		OnStart: func(prepaid.ReportRun) error { return errDisk },
	})
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, prepaid.OutcomeApplied, harness.CallError(t, err).Outcome)
	require.Len(t, service.Requests(), 1)
}

// The pause between polls can be fixed; one that would outlast the deadline is not begun, and the context ends it.
func TestReportOpenPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(notReady(), notReady(), ready())
		reader, err := reportClient(t, service).Reporting.Open(t.Context(), aRun, prepaid.RunReportParams{Interval: time.Minute})
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		require.Equal(t, []time.Duration{time.Minute, time.Minute}, service.Gaps())
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := reportClient(t, harness.NewScript(notReady())).Reporting.Open(ctx, aRun, prepaid.RunReportParams{})
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(80*time.Second, cancel)
		began := time.Now()
		_, err := reportClient(t, harness.NewScript(notReady())).Reporting.Open(ctx, aRun, prepaid.RunReportParams{})
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		require.Equal(t, 80*time.Second, time.Since(began))
	})
}

// A streamed report may take longer than an attempt, but none of its pauses longer than BodyIdleTimeout.
func TestReportStreamPauses(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 200 X\r\nContent-Type: " + harness.VendorJSON + "\r\nConnection: close\r\n\r\n"
	synctest.Test(t, func(t *testing.T) {
		config := harness.PipesConfig(harness.NewPipes(t, func(_ int, p *harness.Peer) {
			p.Send(head)
			for chunk := reportJSON; chunk != ""; chunk = chunk[min(8, len(chunk)):] {
				p.Send(chunk[:min(8, len(chunk))])
				time.Sleep(9 * time.Second)
			}
			_ = p.Close()
		}))
		config.BodyIdleTimeout = 10 * time.Second
		reader, err := harness.NewClient(t, config).Reporting.Open(t.Context(), aRun, prepaid.RunReportParams{})
		require.NoError(t, err)
		began := time.Now()
		time.Sleep(time.Minute) // a reader in no hurry
		report, err := reader.Report()
		require.NoError(t, err)
		require.EqualValues(t, 2, report.TotalRecords)
		require.Greater(t, time.Since(began), config.AttemptTimeout+time.Minute)
	})
	synctest.Test(t, func(t *testing.T) {
		config := harness.PipesConfig(harness.NewPipes(t, func(_ int, p *harness.Peer) {
			p.Send(head + reportJSON[:30])
			p.Hang()
		}))
		config.BodyIdleTimeout = 40 * time.Second
		began := time.Now()
		reader, err := harness.NewClient(t, config).Reporting.Open(t.Context(), aRun, prepaid.RunReportParams{})
		require.NoError(t, err)
		_, err = reader.Report()
		require.ErrorContains(t, err, "report incomplete")
		require.ErrorContains(t, err, "no complete response (body): attempt timed out")
		require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
		require.Equal(t, 40*time.Second, time.Since(began))
	})
}
