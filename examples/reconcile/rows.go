package main

import (
	"encoding/csv"
	"time"

	"github.com/cardprograms/prepaid"
)

// columns are those of transactions.csv; README.md describes them. Merchants and free text are left out: they reveal
// things about people, and the sums do not need them.
func columns() []string {
	return []string{
		"account_id", "transaction_id", "parent_id", "occurred_at", "type", "amount", "fee", "balance_after", "currency",
	}
}

// rowFile is the CSV file. Rows are written as they are read; those of an account that must be read again are removed.
type rowFile struct {
	*atomicFile

	csv *csv.Writer
	row []string
}

func createRows(path string) (*rowFile, error) {
	file, err := createFile(path)
	if err != nil {
		return nil, err
	}
	rows := &rowFile{atomicFile: file, csv: csv.NewWriter(file)}
	if err := rows.csv.Write(columns()); err != nil {
		file.discard()
		return nil, err
	}
	return rows, nil
}

func (r *rowFile) write(t *prepaid.Transaction) error {
	r.row = append(r.row[:0],
		string(t.AccountID), string(t.ID), string(t.ParentID), t.OccurredAt.UTC().Format(time.RFC3339), string(t.Type),
		t.Amount.String(), t.FeeAmount.String(), t.RunningBalance.String(), t.AmountCurrency,
	)
	return r.csv.Write(r.row)
}

// mark is a position to return to.
func (r *rowFile) mark() (int64, error) {
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return 0, err
	}
	return r.position()
}

// rewind removes the rows written since mark.
func (r *rowFile) rewind(mark int64) error {
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return err
	}
	return r.cut(mark)
}

// keep renames the file.
func (r *rowFile) keep() error {
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return err
	}
	return r.atomicFile.keep()
}
