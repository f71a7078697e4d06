package prepaid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A template has one run at a time: a second start before the first has finished is a conflict.
func ExampleReportingService_Start() {
	srv, err := prepaidtest.Start(prepaidtest.Options{ReportDelay: time.Minute})
	check(err)
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()

	run, err := client.Reporting.Start(ctx, prepaidtest.DailySettlement, prepaid.StartReportParams{IncludeColumnHeaders: true})
	check(err)
	fmt.Println(run.Template, run.ID != "", run.ColumnHeaders)
	_, err = client.Reporting.Start(ctx, prepaidtest.DailySettlement, prepaid.StartReportParams{})
	fmt.Println(errors.Is(err, prepaid.ErrConflict), err)
	// Output:
	// daily_settlement true true
	// true prepaid: Reporting.Start: rejected: status 409 (duplicate_request): a run of the template has not finished
}

// Result requests a report once, for callers with their own schedule.
func ExampleReportingService_Result() {
	srv, err := prepaidtest.Start(prepaidtest.Options{ReportDelay: time.Minute})
	check(err)
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,0.00\n")

	run, err := client.Reporting.Start(ctx, "balances", prepaid.StartReportParams{})
	check(err)
	_, err = client.Reporting.Result(ctx, *run)
	fmt.Println(errors.Is(err, prepaid.ErrReportNotReady))
	srv.Advance(time.Minute)
	report, err := client.Reporting.Result(ctx, *run)
	check(err)
	fmt.Println(report.TotalRecords)
	fmt.Print(report.Data)
	// Output:
	// true
	// 2
	// EA1,25.50
	// EA2,0.00
}

// Another process can open a stored run until four hours after its start.
func ExampleReportingService_Open() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,0.00\n")

	started, err := client.Reporting.Start(ctx, "balances", prepaid.StartReportParams{})
	check(err)
	stored, err := json.Marshal(started)
	check(err)
	var run prepaid.ReportRun
	check(json.Unmarshal(stored, &run))
	report, err := client.Reporting.Open(ctx, run, prepaid.WaitOptions{})
	check(err) // ErrReportFailed: start another
	defer report.Close()
	for row, err := range report.Rows() {
		check(err)
		fmt.Println(row[0], row[1])
	}
	// Output:
	// EA1 25.50
	// EA2 0.00
}

// Rows are valid only when the loop ends without an error: the service counts the records, and another number of rows
// is an error at the end.
func ExampleReportReader_Rows() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,74.50\n")

	sum := func() (total prepaid.Amount, err error) {
		report, err := client.Reporting.Run(ctx, "balances", prepaid.RunReportParams{})
		if err != nil {
			return total, err
		}
		defer report.Close()
		for row, err := range report.Rows() {
			if err != nil {
				return total, err
			}
			balance, err := prepaid.ParseAmount(row[1])
			if err == nil {
				total, err = total.Add(balance)
			}
			if err != nil {
				return total, err
			}
		}
		return total, nil
	}
	fmt.Println(sum())
	srv.Inject("GET /reporting/templates/{templatename}/reports/{reportid}", prepaidtest.RespondBody(
		200, "application/vnd.vendor+json", `{"reportdata": "EA1,25.50\n", "totalrecords": 2}`))
	total, err := sum()
	_, incomplete := errors.AsType[*prepaid.ReportError](err)
	fmt.Println(total, incomplete)
	// Output:
	// 100.00 <nil>
	// 25.50 true
}

// Read makes a report an io.Reader. The bytes are valid only when it ends with io.EOF.
func ExampleReportReader_Read() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,74.50\n")
	report, err := srv.Client().Reporting.Run(context.Background(), "balances", prepaid.RunReportParams{})
	check(err)
	defer report.Close()

	var text strings.Builder
	buffer := make([]byte, 8)
	for {
		n, err := report.Read(buffer)
		text.Write(buffer[:n])
		if errors.Is(err, io.EOF) {
			break
		}
		check(err) // the report is incomplete
	}
	fmt.Print(text.String())
	// Output:
	// EA1,25.50
	// EA2,74.50
}

// WriteTo writes the report while it arrives. Keep the text only if there is no error.
func ExampleReportReader_WriteTo() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,74.50\n")
	report, err := srv.Client().Reporting.Run(context.Background(), "balances", prepaid.RunReportParams{})
	check(err)
	defer report.Close()

	written, err := report.WriteTo(os.Stdout) // in a program, a temporary file
	fmt.Println(written, err)
	// Output:
	// EA1,25.50
	// EA2,74.50
	// 20 <nil>
}

// A report of any size is saved to a file in constant memory. The file gets its name only when it is complete.
func ExampleReportingService_Run() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client := srv.Client()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,0.00\n")
	folder, err := os.MkdirTemp("", "")
	check(err)
	defer func() { _ = os.RemoveAll(folder) }()

	fetch := func(ctx context.Context, path string) error {
		report, err := client.Reporting.Run(ctx, "balances", prepaid.RunReportParams{
			IncludeColumnHeaders: true,
			WaitForPrevious:      true,
			OnStart:              func(run prepaid.ReportRun) error { fmt.Println("started", run.Template); return nil },
		})
		if err != nil {
			return err
		}
		defer report.Close()
		file, err := os.Create(path + ".part")
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := io.Copy(file, report); err != nil { // EOF only after the rows have been counted
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
		return os.Rename(path+".part", path)
	}
	path := filepath.Join(folder, "balances.csv")
	check(fetch(context.Background(), path))
	text, err := os.ReadFile(path)
	fmt.Print(string(text), err)
	// Output:
	// started balances
	// account,balance
	// EA1,25.50
	// EA2,0.00
	// <nil>
}
