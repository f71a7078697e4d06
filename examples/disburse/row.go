package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cardprograms/prepaid"
)

// columns is the first line of a payments file.
const columns = "key,account_id,amount,reference"

const (
	longestKey       = 40 // with a run's name, two slashes and eight digits it fits into a reference
	longestRun       = 24
	longestAccount   = 64
	longestReference = 75
)

// payment is one row: payee, amount and key.
type payment struct {
	line      int
	key       string
	account   prepaid.AccountID
	amount    prepaid.Amount
	reference string
}

// rowError lists the faults of a row: every field and rule, never a value.
type rowError struct {
	line   int
	faults []prepaid.Fault
}

func (e *rowError) Error() string {
	rules := make([]string, len(e.faults))
	for i, fault := range e.faults {
		rules[i] = strings.TrimSpace(fault.Field + " " + fault.Rule)
	}
	return fmt.Sprintf("line %d: %s", e.line, strings.Join(rules, "; "))
}

func (e *rowError) add(field, rule string) {
	e.faults = append(e.faults, prepaid.Fault{Field: field, Rule: rule})
}

// parseRow checks everything that can be checked without the service. For an invalid row the key is also returned, if
// it is valid: another row may have it as well.
func parseRow(line int, fields []string, float prepaid.AccountID, most prepaid.Amount) (payment, *rowError) {
	p := payment{line: line, key: fields[0], account: prepaid.AccountID(fields[1]), reference: fields[3]}
	wrong := &rowError{line: line}
	if !isName(p.key, longestKey) {
		wrong.add("key", nameRule(longestKey))
		p.key = ""
	}
	switch {
	case p.account == float:
		wrong.add("account_id", "is the float account")
	case !isName(fields[1], longestAccount):
		wrong.add("account_id", nameRule(longestAccount))
	}
	amount, err := prepaid.ParseAmount(fields[2])
	_, whole := amount.Cents()
	switch {
	case err != nil:
		wrong.add("amount", "must be a plain number such as 1250.00")
	case amount.Sign() <= 0:
		wrong.add("amount", "must be above zero")
	case !whole:
		wrong.add("amount", "must have at most two decimals")
	case !most.IsZero() && amount.Compare(most) > 0:
		wrong.add("amount", "must not exceed -max")
	}
	p.amount = amount
	if rule := brokenReference(p.reference); rule != "" {
		wrong.add("reference", rule)
	}
	if len(wrong.faults) > 0 {
		return p, wrong
	}
	return p, nil
}

// isName accepts what looks the same to everybody: no spaces that a spreadsheet hides, no letters that look alike, and
// no first character that a spreadsheet takes for a formula when it opens the summary.
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

func brokenReference(text string) string {
	switch {
	case text == "":
		return "is required"
	case !utf8.ValidString(text):
		return "must be valid UTF-8"
	case utf8.RuneCountInString(text) > longestReference:
		return fmt.Sprintf("must be at most %d characters", longestReference)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "must have no control characters"
	}
	return ""
}
