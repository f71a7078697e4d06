// Program raw does the work of program client with the standard library. At the end, the tasks rows, strings and file print the memory
// that Linux reports for the process. After an error, the program exits with 1.
//
//	raw rows ADDRESS COUNT     reads the rows of a report
//	raw strings ADDRESS COUNT  makes a string of each row, and does nothing else with it
//	raw file ADDRESS COUNT     copies a report to a file
//	raw start ADDRESS -        requests a token and an account, and prints that account's ID at once
//	raw start2 ADDRESS -       the same on two connections
package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/bench/small/plain"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(task, address, rows string) error {
	var read func(io.Reader) (int, error)
	switch task {
	case "start", "start2":
		return plain.Start(address, task == "start2")
	case "rows":
		read = readRows
	case "strings":
		read = makeStrings
	case "file":
		read = copyToFile
	}
	body, err := get(address + "reporting/templates/daily/reports/" + rows)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	want, err := strconv.Atoi(rows)
	if err != nil {
		return err
	}
	if n, err := read(body); err != nil {
		return err
	} else if n >= 0 && n != want {
		return fmt.Errorf("%d rows instead of %d", n, want)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(status)
	return err
}

func get(address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody) //nolint:gosec // the benchmark's own server
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(req) //nolint:gosec // the same
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

func readRows(body io.Reader) (n int, err error) {
	all, err := io.ReadAll(body)
	if err != nil {
		return 0, err
	}
	var report struct {
		Data  string `json:"reportdata"`
		Total int    `json:"totalrecords"`
	}
	if err := json.Unmarshal(all, &report); err != nil {
		return 0, err
	}
	reader := csv.NewReader(strings.NewReader(report.Data))
	reader.ReuseRecord = true
	for ; ; n++ {
		if _, err := reader.Read(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// row is assigned so that the compiler does not omit the strings.
var row string //nolint:unused // written only

// makeStrings ends each string at the letter r: each row of the benchmark's report contains one, in the JSON escape \r.
func makeStrings(body io.Reader) (n int, err error) {
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := in.ReadSlice('r')
		if err == io.EOF {
			return -1, nil
		} else if err != nil {
			return 0, err
		}
		row = string(line)
	}
}

func copyToFile(body io.Reader) (int, error) {
	file, err := os.CreateTemp("", "report-*.csv")
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(file, body)
	return -1, errors.Join(err, file.Close(), os.Remove(file.Name()))
}
