package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// columns is the first line of a payments file.
const columns = "key,account_id,amount,reference"

// nameRule excludes text that a spreadsheet hides, that looks like other text, or that starts a formula in the summary.
const nameRule = `must be letters, digits, ".", "_" or "-", a letter or digit first`

// payment is one row.
type payment struct {
	line           int
	account        prepaid.AccountID
	amount         prepaid.Amount
	key, reference string
}

// list is a payments file. The run reads the file only once: later changes of the file have no effect.
type list struct {
	rows   []payment
	total  journal.Total
	faults []string // with line, field and rule, never with a value; if empty, the list is usable
}

func (l *list) fault(line int, rules ...string) {
	if len(rules) > 0 {
		l.faults = append(l.faults, fmt.Sprintf("line %d: %s", line, strings.Join(rules, "; ")))
	}
}

// readFile reads and checks the whole file.
func readFile(j *job) (*list, error) {
	text, err := os.ReadFile(j.file)
	if err != nil {
		return nil, err
	}
	l := &list{}
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))) // some spreadsheets write a BOM
	if header, _ := reader.Read(); strings.Join(header, ",") != columns {
		l.fault(1, "must be "+columns)
		return l, nil
	}
	lines := make(map[string]int) // by key
	for {
		fields, err := reader.Read()
		broken, ok := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			l.controlTotals(j)
			return l, nil
		case ok:
			l.fault(broken.StartLine, broken.Err.Error())
			continue
		case err != nil:
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		p, rules := parseRow(line, fields, j)
		if first, known := lines[p.key]; known {
			rules = append(rules, fmt.Sprintf("key is that of line %d", first))
		} else {
			lines[p.key] = line
		}
		l.fault(line, rules...)
		l.rows = append(l.rows, p)
		if err := addTo(&l.total, p.amount); err != nil {
			return nil, err
		}
	}
}

// parseRow checks everything that can be checked without the service, and returns the broken rules.
func parseRow(line int, fields []string, j *job) (p payment, rules []string) {
	p = payment{line: line, key: fields[0], account: prepaid.AccountID(fields[1]), reference: fields[3]}
	if !isName(p.key) {
		rules = append(rules, "key "+nameRule)
	}
	if p.account == j.float {
		rules = append(rules, "account_id is the float account")
	}
	if !isName(fields[1]) {
		rules = append(rules, "account_id "+nameRule)
	}
	if strings.ContainsFunc(p.reference, unicode.IsControl) {
		rules = append(rules, "reference must have no control characters")
	}
	var err error
	if p.amount, err = prepaid.ParseAmount(fields[2]); err != nil {
		return p, append(rules, "amount must be a plain number such as 1250.00")
	}
	if _, whole := p.amount.Cents(); !whole {
		rules = append(rules, "amount must have at most two decimals")
	}
	if invalid, ok := errors.AsType[*prepaid.ValidationError](j.params(p).Validate()); ok {
		for _, fault := range invalid.Faults {
			rules = append(rules, strings.TrimPrefix(fault.Field, "destination_")+" "+fault.Rule)
		}
	}
	return p, rules
}

func isName(text string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	return text != "" && strings.Trim(text, letters+"._-") == "" && strings.IndexByte(letters, text[0]) >= 0
}

// controlTotals detects a truncated or wrong file, which no single row shows.
func (l *list) controlTotals(j *job) {
	if len(l.faults) > 0 {
		return // an invalid file has no meaningful totals
	}
	if len(l.rows) == 0 {
		l.faults = append(l.faults, "the file has no payment")
	}
	if j.rows != 0 && l.total.Count != j.rows {
		l.faults = append(l.faults, fmt.Sprintf("the file has %d payments, -rows says %d", l.total.Count, j.rows))
	}
	if !j.sum.IsZero() && l.total.Sum != j.sum {
		l.faults = append(l.faults, fmt.Sprintf("the sum of the file is %s, -sum says %s", l.total.Sum, j.sum))
	}
}

// addTo adds one payment of the given amount to total.
func addTo(total *journal.Total, amount prepaid.Amount) error {
	sum, err := total.Sum.Add(amount)
	if err != nil {
		return fmt.Errorf("the sum of the payments: %w", err)
	}
	total.Count, total.Sum = total.Count+1, sum
	return nil
}
