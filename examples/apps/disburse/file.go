package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cardprograms/prepaid"
)

// job identifies a run: the same environment, run, date and key mean the same payment.
type job struct {
	run         string
	date        prepaid.Date
	environment string // so that a rehearsal in the test environment does not count as the run
}

// journal returns the name of the journal. It has no date, so that a run with a wrong date finds the journal too.
func (j *job) journal() string {
	return j.run + "." + cmp.Or(j.environment, "production") + ".journal"
}

// row is a payment of the file.
type row struct {
	key    string
	params prepaid.TransferParams
}

// read reads and checks the whole file. Nothing is sent if a row is invalid.
func (j *job) read(file string, float prepaid.AccountID) ([]row, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it is only read
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) < 2 || !slices.Equal(lines[0], []string{"key", "account_id", "amount", "reference"}) {
		return nil, errors.New("the file must have payments, and the first line key,account_id,amount,reference")
	}
	var rows []row
	var faults []error
	first := make(map[string]int) // lines by key
	for i, fields := range lines[1:] {
		r, err := j.parse(fields)
		switch n, known := first[r.key]; {
		case known:
			err = fmt.Errorf("has the key of row %d", n)
		case r.params.DestinationAccountID == float:
			err = errors.New("pays to the float account")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("row %d: %w", i+1, err))
		}
		first[r.key] = i + 1
		rows = append(rows, r)
	}
	return rows, errors.Join(faults...)
}

// parse makes the payment of a row. Its request ID depends on run, date and key, so that nobody is paid twice if the journal is lost. Take
// keys from your books: a row number changes when the file is sorted.
func (j *job) parse(fields []string) (row, error) {
	r := row{key: fields[0]}
	amount, err := prepaid.ParseAmount(fields[2])
	if err != nil || r.key == "" {
		return r, errors.New("needs a key and a plain amount, such as 1250.00")
	}
	r.params = prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(j.date, "disburse", j.environment, j.run, r.key), Amount: amount,
		DestinationAccountID: prepaid.AccountID(fields[1]), Type: prepaid.TransferTypeLoad,
		SourceReference: j.run + "/" + r.key, DestinationReference: fields[3],
	}
	return r, r.params.Validate() // the error has fields and rules, never values
}
