package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// errFileChanged: what is read is not what was checked.
var errFileChanged = errors.New("the payments file was changed while it was in use")

// list is a checked payments file. For each row it keeps the request ID and a hash: rows are read again when needed, so
// memory holds no names and no references.
type list struct {
	job   *job
	file  *os.File // stays open: a replacement of the file is not seen
	seed  maphash.Seed
	rows  map[prepaid.RequestID]mark
	total journal.Total
}

// mark is what is kept of a row.
type mark struct {
	line int
	hash uint64
}

// hash shortens a text for later comparison.
func (l *list) hash(text string) uint64 { return maphash.String(l.seed, text) }

// openList reads the whole file and passes every fault to report. A list is usable if there was none.
func openList(j *job, report func(error)) (l *list, faults int, err error) {
	file, err := os.Open(j.file)
	if err != nil {
		return nil, 0, err
	}
	l = &list{job: j, file: file, seed: maphash.MakeSeed(), rows: make(map[prepaid.RequestID]mark)}
	for p, err := range l.read() {
		wrong, ok := errors.AsType[*rowError](err)
		if err != nil && !ok {
			return nil, faults, errors.Join(err, file.Close())
		}
		if err := l.add(p, wrong); err != nil {
			report(err)
			faults++
		}
	}
	if faults == 0 && len(l.rows) == 0 {
		report(errors.New("the file has no payment"))
		faults++
	}
	return l, faults, nil
}

// add counts a row, or returns what is wrong with it.
func (l *list) add(p payment, wrong *rowError) error {
	if wrong == nil {
		wrong = &rowError{line: p.line}
	}
	if id := l.job.requestID(p); p.key != "" {
		if first, known := l.rows[id]; known {
			wrong.add("key", fmt.Sprintf("is that of line %d", first.line))
		} else {
			l.rows[id] = mark{line: p.line, hash: maphash.Comparable(l.seed, p)}
		}
	}
	if len(wrong.faults) > 0 {
		return wrong
	}
	return addTo(&l.total, p.amount)
}

// payments iterates over the rows again, and ends with errFileChanged at a row that differs from the checked one.
func (l *list) payments() iter.Seq2[payment, error] {
	return func(yield func(payment, error) bool) {
		seen := 0
		for p, err := range l.read() {
			if err == nil {
				seen++
				if l.rows[l.job.requestID(p)] != (mark{line: p.line, hash: maphash.Comparable(l.seed, p)}) {
					err = errFileChanged
				}
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
		if seen != len(l.rows) {
			yield(payment{}, errFileChanged)
		}
	}
}

// read parses the file row by row. A *rowError is about one row; after any other error there are no more rows.
func (l *list) read() iter.Seq2[payment, error] {
	return func(yield func(payment, error) bool) {
		if _, err := l.file.Seek(0, io.SeekStart); err != nil {
			yield(payment{}, err)
			return
		}
		text := bufio.NewReader(l.file)
		if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" { // spreadsheets start UTF-8 with it
			_, _ = text.Discard(3)
		}
		reader := csv.NewReader(text)
		reader.ReuseRecord = true
		header, err := reader.Read()
		if _, broken := errors.AsType[*csv.ParseError](err); err != nil && !broken && !errors.Is(err, io.EOF) {
			yield(payment{}, err)
			return
		}
		if strings.Join(header, ",") != columns {
			wrong := &rowError{line: 1}
			wrong.add("", "must be "+columns)
			yield(payment{}, wrong)
			return
		}
		reader.FieldsPerRecord = len(header)
		for {
			p, err := l.next(reader)
			if errors.Is(err, io.EOF) || !yield(p, err) {
				return
			}
			if _, ok := errors.AsType[*rowError](err); err != nil && !ok {
				return
			}
		}
	}
}

func (l *list) next(reader *csv.Reader) (payment, error) {
	fields, err := reader.Read()
	if broken, ok := errors.AsType[*csv.ParseError](err); ok {
		wrong := &rowError{line: broken.StartLine}
		wrong.add("", `has a quote where none may be: quote the whole field, and write "" for a quote in it`)
		if errors.Is(broken, csv.ErrFieldCount) {
			wrong.faults[0].Rule = fmt.Sprintf("must have %d fields", reader.FieldsPerRecord)
		}
		return payment{}, wrong
	}
	if err != nil {
		return payment{}, err
	}
	line, _ := reader.FieldPos(0)
	p, wrong := parseRow(line, fields, l.job.float, l.job.most)
	if wrong != nil {
		return p, wrong
	}
	return p, nil // no fault: a nil *rowError would be a non-nil error
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
