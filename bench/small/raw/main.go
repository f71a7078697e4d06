// Program raw does the work of program client with the standard library.
//
//	raw rows ADDRESS COUNT     reads the rows of a report
//	raw strings ADDRESS COUNT  makes a string of each row, and does nothing else with it
//	raw file ADDRESS COUNT     copies a report to a file
//	raw start ADDRESS -        requests a token and an account, and prints that account's ID at once
//	raw start2 ADDRESS -       the same on two connections
package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/bench/small/plain"
)

func main() { plain.Main(run) }

func run(task, address, rows string) error {
	if strings.HasPrefix(task, "start") {
		return plain.Start(address, task == "start2")
	}
	response, err := http.Get(address + "reporting/templates/daily/reports/" + rows) //nolint:noctx // the benchmark's own server
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	switch task {
	case "rows":
		return readRows(response.Body, rows)
	case "strings":
		return makeStrings(response.Body)
	}
	return plain.CopyToFile(response.Body)
}

func readRows(body io.Reader, want string) error {
	all, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var report struct {
		Data  string `json:"reportdata"`
		Total int    `json:"totalrecords"`
	}
	if err := json.Unmarshal(all, &report); err != nil {
		return err
	}
	reader := csv.NewReader(strings.NewReader(report.Data))
	reader.ReuseRecord = true
	for n := 0; ; n++ {
		if _, err := reader.Read(); err == io.EOF && strconv.Itoa(n) == want {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w after %d of %s rows", err, n, want)
		}
	}
}

// row is assigned so that the compiler does not omit the strings.
var row string //nolint:unused // written only

// makeStrings ends each string at the letter r: each row of the benchmark's report contains one, in the JSON escape \r.
func makeStrings(body io.Reader) error {
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := in.ReadSlice('r')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		row = string(line)
	}
}
