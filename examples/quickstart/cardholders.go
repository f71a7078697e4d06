package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cardprograms/prepaid"
)

//go:embed cardholders.csv
var shipped []byte

// row is one line of the file: a cardholder and the amount to load.
type row struct {
	line       int
	key        string
	cardholder *prepaid.Cardholder
	load       prepaid.Amount
}

const columns = "key,first_name,last_name,date_of_birth,email,mobile,state,country,load"

// readCardholders reads the file, or the shipped one. An invalid line refuses the whole file, before anything is sent.
func readCardholders(path string) (rows []row, err error) {
	text := shipped
	if path != "" {
		if text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	reader := csv.NewReader(bytes.NewReader(text))
	header, err := reader.Read()
	if err != nil || strings.Join(header, ",") != columns {
		return nil, fmt.Errorf("the first line must be %s", columns)
	}
	lines := make(map[string]int) // by key
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err // with the line, and without its text
		}
		line, _ := reader.FieldPos(0)
		r, err := parseRow(line, fields)
		if first, known := lines[r.key]; known && err == nil {
			err = fmt.Errorf("key: is that of line %d", first)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		lines[r.key] = line
		rows = append(rows, r)
	}
}

func parseRow(line int, fields []string) (row, error) {
	r := row{line: line, key: fields[0]}
	born, err := prepaid.ParseDate(fields[3])
	if err != nil {
		return r, fmt.Errorf("date_of_birth: %w", err)
	}
	if r.load, err = prepaid.ParseAmount(fields[8]); err != nil {
		return r, fmt.Errorf("load: %w", err)
	}
	if r.load.Sign() <= 0 {
		return r, errors.New("load: must be above zero")
	}
	r.cardholder = &prepaid.Cardholder{
		FirstName: fields[1], LastName: fields[2], DateOfBirth: born, EmailAddress: fields[4], MobileNumber: fields[5],
		PrimaryAddress: prepaid.Address{State: fields[6], Country: fields[7]},
	}
	return r, nil
}
