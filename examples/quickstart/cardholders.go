package main

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
)

//go:embed cardholders.csv
var shipped string

// row is one line of the file: a cardholder and the amount to load, or why the line is invalid.
type row struct {
	line       int
	key        string
	cardholder *prepaid.Cardholder
	load       prepaid.Amount
	err        error
}

const columns = "key,first_name,last_name,date_of_birth,email,mobile,state,country,load"

// readCardholders reads the file, or the shipped one. An invalid line is a row with the reason: it does not stop the
// others.
func readCardholders(path string) ([]row, error) {
	text := io.Reader(strings.NewReader(shipped))
	if path != "" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // only read
		text = file
	}
	reader := csv.NewReader(text)
	header, err := reader.Read()
	if err != nil || strings.Join(header, ",") != columns {
		return nil, fmt.Errorf("the first line must be %s", columns)
	}
	reader.FieldsPerRecord = len(header)
	var rows []row
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			refuseRepeats(rows)
			return rows, nil
		}
		if err != nil {
			parse, ok := errors.AsType[*csv.ParseError](err)
			if !ok {
				return nil, err
			}
			rows = append(rows, row{line: parse.Line, err: parse.Err})
			continue
		}
		line, _ := reader.FieldPos(0)
		rows = append(rows, parseRow(line, fields))
	}
}

// refuseRepeats refuses all lines with a duplicate key: nobody knows which of them is meant, and a card has one first
// load.
func refuseRepeats(rows []row) {
	lines := map[string][]string{}
	for _, r := range rows {
		if r.key != "" {
			lines[r.key] = append(lines[r.key], strconv.Itoa(r.line))
		}
	}
	for i := range rows {
		if same := lines[rows[i].key]; len(same) > 1 && rows[i].err == nil {
			rows[i].err = fmt.Errorf("key: the same in lines %s", strings.Join(same, ", "))
		}
	}
}

func parseRow(line int, fields []string) row {
	r := row{line: line, key: fields[0]}
	born, err := prepaid.ParseDate(fields[3])
	if err != nil {
		r.err = fmt.Errorf("date_of_birth: %w", err)
		return r
	}
	if r.load, err = prepaid.ParseAmount(fields[8]); err != nil {
		r.err = fmt.Errorf("load: %w", err)
		return r
	}
	if r.load.Sign() <= 0 {
		r.err = errors.New("load: must be above zero")
		return r
	}
	r.cardholder = &prepaid.Cardholder{
		FirstName: fields[1], LastName: fields[2], DateOfBirth: born, EmailAddress: fields[4], MobileNumber: fields[5],
		PrimaryAddress: prepaid.Address{State: fields[6], Country: fields[7]},
	}
	return r
}
