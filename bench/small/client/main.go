// Program client does the work of program raw, but with the client.
//
//	client rows ADDRESS COUNT  reads the rows of a report
//	client file ADDRESS COUNT  copies a report to a file
//	client start ADDRESS -     makes a client, reads an account, and prints its ID at once
//	client plain ADDRESS -     runs the code of "raw start": the additional time is the cost of the larger program
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/bench/small/plain"
)

func main() { plain.Main(run) }

func run(task, address, rows string) error {
	if task == "plain" {
		return plain.Start(address, false)
	}
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: address, Vendor: "vendor",
		ClientID: "bench", ClientSecret: prepaid.NewSecret("secret"),
	})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if task == "start" {
		account, err := client.Accounts.Get(ctx, "EAID7")
		if err != nil {
			return err
		}
		_, err = os.Stdout.WriteString(string(account.ID) + "\n")
		return err
	}
	reader, err := client.Reporting.Open(ctx, prepaid.ReportRun{Template: "daily", ID: rows}, prepaid.RunReportParams{})
	if err != nil {
		return err
	}
	defer reader.Close()
	if task == "rows" {
		return readRows(reader, rows)
	}
	return plain.CopyToFile(reader)
}

func readRows(reader *prepaid.ReportReader, want string) error {
	n := 0
	for _, err := range reader.Rows() {
		if err != nil {
			return err
		}
		n++
	}
	if strconv.Itoa(n) != want {
		return fmt.Errorf("%d rows instead of %s", n, want)
	}
	return nil
}
