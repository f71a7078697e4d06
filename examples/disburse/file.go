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
	"unicode/utf8"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// columns is the first line of a payments file.
const columns = "key,account_id,amount,reference"

const (
	longestKey       = 40 // a reference also has the run's name, two slashes and eight digits
	longestRun       = 24
	longestAccount   = 64
	longestReference = 75
)

// payment is one row.
type payment struct {
	line      int
	key       string
	account   prepaid.AccountID
	amount    prepaid.Amount
	reference string
}

// list is a payments file. It is read once: later changes have no effect on the run.
type list struct {
	rows   []payment
	total  journal.Total
	faults []string // lines, fields and rules, never values; without faults the list is usable
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
			if len(l.rows) == 0 && len(l.faults) == 0 {
				l.faults = append(l.faults, "the file has no payment")
			}
			return l, nil
		case errors.Is(err, csv.ErrFieldCount):
			l.fault(broken.StartLine, fmt.Sprintf("must have %d fields", reader.FieldsPerRecord))
			continue
		case ok:
			l.fault(broken.StartLine, `has a quote where none may be: quote the whole field, and write "" for a quote in it`)
			continue
		case err != nil:
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		p, rules := parseRow(line, fields, j.float)
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
func parseRow(line int, fields []string, float prepaid.AccountID) (p payment, rules []string) {
	p = payment{line: line, key: fields[0], account: prepaid.AccountID(fields[1]), reference: fields[3]}
	if !isName(p.key, longestKey) {
		rules = append(rules, "key "+nameRule(longestKey))
	}
	switch {
	case p.account == float:
		rules = append(rules, "account_id is the float account")
	case !isName(fields[1], longestAccount):
		rules = append(rules, "account_id "+nameRule(longestAccount))
	}
	amount, err := prepaid.ParseAmount(fields[2])
	_, whole := amount.Cents()
	switch {
	case err != nil:
		rules = append(rules, "amount must be a plain number such as 1250.00")
	case amount.Sign() <= 0:
		rules = append(rules, "amount must be above zero")
	case !whole:
		rules = append(rules, "amount must have at most two decimals")
	}
	p.amount = amount
	switch {
	case p.reference == "":
		rules = append(rules, "reference is required")
	case !utf8.ValidString(p.reference):
		rules = append(rules, "reference must be valid UTF-8")
	case utf8.RuneCountInString(p.reference) > longestReference:
		rules = append(rules, fmt.Sprintf("reference must be at most %d characters", longestReference))
	case strings.ContainsFunc(p.reference, unicode.IsControl):
		rules = append(rules, "reference must have no control characters")
	}
	return p, rules
}

// isName accepts unambiguous text: no spaces that a spreadsheet hides, no letters that look alike, and
// no first character that starts a formula when a spreadsheet opens the summary.
func isName(text string, longest int) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

func nameRule(longest int) string {
	return fmt.Sprintf(`must be 1 to %d letters, digits, ".", "_" or "-", a letter or digit first`, longest)
}

// controlTotals detects errors that no row shows: a truncated or wrong file.
func (l *list) controlTotals(j *job) {
	if len(l.faults) > 0 {
		return // an invalid file has no meaningful totals
	}
	if j.rows != 0 && l.total.Count != j.rows {
		l.faults = append(l.faults, fmt.Sprintf("the file has %d payments, -rows says %d", l.total.Count, j.rows))
	}
	if !j.sum.IsZero() && l.total.Sum != j.sum {
		l.faults = append(l.faults, fmt.Sprintf("the sum of the file is %s, -sum says %s", l.total.Sum, j.sum))
	}
}

// addTo counts an amount.
func addTo(total *journal.Total, amount prepaid.Amount) error {
	sum, err := total.Sum.Add(amount)
	if err != nil {
		return fmt.Errorf("the sum of the payments: %w", err)
	}
	total.Count, total.Sum = total.Count+1, sum
	return nil
}
