package prepaid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Another process can open a stored run until four hours after its start.
func ExampleReportingService_Open() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,0.00\n")

	started, err := client.Reporting.Start(ctx, "balances", prepaid.RunReportParams{})
	check(err)
	stored, err := json.Marshal(started)
	check(err)
	var run prepaid.ReportRun
	check(json.Unmarshal(stored, &run))
	report, err := client.Reporting.Open(ctx, run, prepaid.RunReportParams{})
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

// Rows are processed while the same download is stored. Keep the file, and the sum, only if the loop ends without an error.
func ExampleReportReader_RowsTo() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	srv.AddReportCSV("balances", "account,balance\nEA1,25.50\nEA2,74.50\n")
	report, err := srv.Client().Reporting.Run(context.Background(), "balances", prepaid.RunReportParams{})
	check(err)
	defer report.Close()

	var total prepaid.Amount
	for row, err := range report.RowsTo(os.Stdout) { // in a program, a temporary file
		check(err)
		total, err = total.Add(prepaid.MustAmount(row[1])) // in a program, ParseAmount
		check(err)
	}
	fmt.Println(total)
	// Output:
	// EA1,25.50
	// EA2,74.50
	// 100.00
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
