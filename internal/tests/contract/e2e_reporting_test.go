package contract

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	startOperation  = "GET /reporting/templates/{templatename}"
	resultOperation = "GET /reporting/templates/{templatename}/reports/{reportid}"
)

// soon polls without waiting long.
var soon = prepaid.WaitOptions{Interval: time.Millisecond}

// The settlement is equal to the ledger, in each way of reading.
func TestE2EReportOfTheLedger(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]prepaidtest.Options{"bare id": {}, "quoted id": {QuotedStrings: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStage(t, options, func(t *testing.T, s *stage) {
				ids := []prepaid.AccountID{s.seed("100.00"), s.seed("50.00")}
				s.redeemAgain(ids[0], "25.50")
				want := []string{}
				for _, id := range ids {
					for _, item := range s.Transactions(id) {
						want = append(want, string(item.ID)+" "+item.Amount+" "+item.RunningBalance)
					}
				}
				started := 0
				params := prepaid.RunReportParams{
					IncludeColumnHeaders: true, Wait: soon, OnStart: func(prepaid.ReportRun) error { started++; return nil },
				}
				run := func() *prepaid.ReportReader {
					reader, err := s.client.Reporting.Run(t.Context(), prepaidtest.DailySettlement, params)
					require.NoError(t, err)
					return reader
				}
				parse := func(text string) []string {
					rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
					require.NoError(t, err)
					found := []string{}
					for _, row := range rows[1:] {
						found = append(found, row[0]+" "+row[4]+" "+row[7])
					}
					return found
				}
				report, err := run().Report()
				require.NoError(t, err)
				require.EqualValues(t, len(want), report.TotalRecords)
				require.Equal(t, want, parse(report.Data))

				reader := run()
				text, err := io.ReadAll(reader)
				require.NoError(t, err)
				require.NoError(t, reader.Close())
				require.Equal(t, want, parse(string(text)))
				require.Equal(t, 2, started)
			})
		})
	}
}

// Run waits for the report and, when asked to, for the run before it.
func TestE2EReportRunWaits(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{ReportDelay: time.Minute, FrozenClock: true}, func(t *testing.T, s *stage) {
		s.AddReportCSV("balances", "id\n1\n")
		_, err := s.client.Reporting.Start(t.Context(), "balances", prepaid.StartReportParams{})
		require.NoError(t, err)
		_, err = s.client.Reporting.Run(t.Context(), "balances", prepaid.RunReportParams{})
		require.ErrorIs(t, err, prepaid.ErrConflict)

		// The earlier run finishes after one conflict, and the new run after three polls.
		ctx := prepaid.WithTrace(t.Context(), &prepaid.Trace{CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) {
			if errors.Is(c.Err, prepaid.ErrConflict) {
				s.Advance(time.Minute)
			}
		}})
		wait := prepaid.WaitOptions{Interval: time.Millisecond, OnProgress: func(p prepaid.ReportProgress) {
			if p.Polls == 3 {
				s.Advance(time.Minute)
			}
		}}
		reader, err := s.client.Reporting.Run(ctx, "balances", prepaid.RunReportParams{WaitForPrevious: true, Wait: wait})
		require.NoError(t, err)
		report, err := reader.Report()
		require.NoError(t, err)
		require.Equal(t, "1\n", report.Data)
		require.Equal(t, []int{200, 409, 409, 200}, s.statuses(startOperation))
		require.Equal(t, []int{204, 204, 204, 200}, s.statuses(resultOperation))
		require.Equal(t, "balances", reader.Run().Template)
	})
}

// If the deadline is before the next poll, the wait ends at once with the error "not ready".
func TestE2EReportRunDeadline(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{ReportDelay: time.Hour}, func(t *testing.T, s *stage) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		params := prepaid.RunReportParams{Wait: prepaid.WaitOptions{Interval: 2 * time.Minute}}
		began := time.Now()
		_, err := s.client.Reporting.Run(ctx, prepaidtest.DailySettlement, params)
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		require.Equal(t, began, time.Now())
	})
}

// A run that failed must be requested again: its 500 is final, and the next run is another one.
func TestE2EReportFailed(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		attempts := 0
		s.AddReport("fragile", func(w io.Writer, _ bool) (int, error) {
			if attempts++; attempts == 1 {
				return 0, errors.New("no disk")
			}
			_, err := io.WriteString(w, "1\n")
			return 1, err
		})
		_, err := s.client.Reporting.Run(t.Context(), "fragile", prepaid.RunReportParams{Wait: soon})
		require.ErrorIs(t, err, prepaid.ErrReportFailed)
		failed(t, err, notProcessed, 500, "server_error")
		require.Len(t, s.statuses(resultOperation), 1)
		reader, err := s.client.Reporting.Run(t.Context(), "fragile", prepaid.RunReportParams{Wait: soon})
		require.NoError(t, err)
		report, err := reader.Report()
		require.NoError(t, err)
		require.Equal(t, "1\n", report.Data)
	})
}

// A bad token at a report start is replaced, in either reading of its row: a 401, or a 400.
func TestE2EReportStartWithBadToken(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 400} {
		onStage(t, prepaidtest.Options{BadTokenOnReportStart: status}, func(t *testing.T, s *stage) {
			_, err := s.client.Token(t.Context())
			require.NoError(t, err)
			s.RevokeTokens()
			_, err = s.client.Reporting.Start(t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
			require.NoError(t, err)
			require.Equal(t, []int{status, 200}, s.statuses(startOperation))
			_, err = s.client.Policy.Get(t.Context(), prepaidtest.DefaultCompany)
			require.NoError(t, err)
			require.Len(t, s.statuses(tokenOperation), 2, "the new token is shared")
		})
	}
}

// A start whose response is lost is unknown and not sent again; Run waits the lost run out and starts anew.
func TestE2EReportStartUnknown(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{ReportDelay: 20 * time.Millisecond}, func(t *testing.T, s *stage) {
		s.Inject(startOperation, prepaidtest.CommitThenDrop())
		_, err := s.client.Reporting.Start(t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Len(t, s.statuses(startOperation), 1, "net/http must not repeat it either")
		reader, err := s.client.Reporting.Run(t.Context(), prepaidtest.DailySettlement, prepaid.RunReportParams{WaitForPrevious: true, Wait: soon})
		require.NoError(t, err)
		_, err = reader.Report()
		require.NoError(t, err)
	})
}

// A truncated download is no report, in each way of reading.
func TestE2EReportCut(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		s.AddReport("long", func(w io.Writer, _ bool) (int, error) {
			for i := range 1000 {
				if _, err := fmt.Fprintf(w, "%d,row\n", i); err != nil {
					return i, err
				}
			}
			return 1000, nil
		})
		s.AddReport("miscounted", func(w io.Writer, _ bool) (int, error) {
			_, err := io.WriteString(w, "1\n2\n")
			return 3, err
		})
		s.AddReport("breaks", func(w io.Writer, _ bool) (int, error) {
			for range 10_000 {
				if _, err := io.WriteString(w, "1,row of some length\n"); err != nil {
					return 0, err
				}
			}
			return 0, errors.New("no disk")
		})
		for template, faults := range map[string][]prepaidtest.Fault{"long": {prepaidtest.Truncate()}, "miscounted": nil, "breaks": nil} {
			open := func() *prepaid.ReportReader {
				run, err := s.client.Reporting.Start(t.Context(), template, prepaid.StartReportParams{})
				require.NoError(t, err)
				s.Inject(resultOperation, faults...)
				reader, err := s.client.Reporting.Open(t.Context(), *run, soon)
				require.NoError(t, err)
				return reader
			}
			_, err := io.Copy(io.Discard, open())
			require.ErrorContains(t, err, "report incomplete", template)
			_, err = open().Report()
			require.ErrorContains(t, err, "report incomplete", template)
			for _, err = range open().Rows() {
				continue
			}
			require.ErrorContains(t, err, "report incomplete", template)
			cause := harness.As[*prepaid.ReportError](t, err)
			require.Positive(t, cause.Rows, template)
		}
	})
}

// The 204 of a poll has a body, which must not affect the next call on the connection.
func TestE2EReportPollsLeaveTheConnectionsClean(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{ReportDelay: time.Hour}, func(t *testing.T, s *stage) {
		id := s.seed("1.00")
		run, err := s.client.Reporting.Start(t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
		require.NoError(t, err)
		for range 5 {
			_, err := s.client.Reporting.Result(t.Context(), *run)
			require.ErrorIs(t, err, prepaid.ErrReportNotReady)
			account, err := s.client.Accounts.Summary(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, prepaid.Cents(100), account.Balance)
		}
		require.Equal(t, []int{204, 204, 204, 204, 204}, s.statuses(resultOperation))
	})
}
