// Program client does the work of program raw, but with the client.
//
//	client rows ADDRESS COUNT  reads the rows of a report
//	client file ADDRESS COUNT  copies a report to a file
//	client start ADDRESS -     makes a client, reads an account, and prints its ID at once
//	client plain ADDRESS -     runs the code of "raw start": the additional time is the cost of the larger program
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/bench/small/plain"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, task, address, rows string) error {
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
	if task == "start" {
		account, err := client.Accounts.Get(ctx, "EAID7")
		if err != nil {
			return err
		}
		_, err = os.Stdout.WriteString(string(account.ID) + "\n")
		return err
	}
	reader, err := client.Reporting.Open(ctx, prepaid.ReportRun{Template: "daily", ID: rows}, prepaid.WaitOptions{})
	if err != nil {
		return err
	}
	defer reader.Close()
	if task == "rows" {
		err = readRows(reader, rows)
	} else {
		err = copyToFile(reader)
	}
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(status)
	return err
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

func copyToFile(reader *prepaid.ReportReader) error {
	file, err := os.CreateTemp("", "report-*.csv")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, reader)
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}
