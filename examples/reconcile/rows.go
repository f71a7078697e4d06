package main

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
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

// rowFile is the CSV file. Rows are written as they are read; those of an account that must be read again are removed. It has
// another name until complete: readers see the old file or the new one, never a part.
type rowFile struct {
	file *os.File
	csv  *csv.Writer
	path string
	kept bool
}

func createRows(path string) (*rowFile, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	rows := &rowFile{file: file, csv: csv.NewWriter(file), path: path}
	_ = rows.csv.Write(columns()) // mark reports an error
	return rows, nil
}

func (r *rowFile) write(t *prepaid.Transaction) error {
	return r.csv.Write([]string{
		string(t.AccountID), string(t.ID), string(t.ParentID), t.OccurredAt.UTC().Format(time.RFC3339), string(t.Type),
		t.Amount.String(), t.FeeAmount.String(), t.RunningBalance.String(), t.AmountCurrency,
	})
}

// mark returns a position for rewind.
func (r *rowFile) mark() (int64, error) {
	r.csv.Flush()
	position, err := r.file.Seek(0, io.SeekCurrent)
	return position, errors.Join(r.csv.Error(), err)
}

// rewind removes the rows written since mark.
func (r *rowFile) rewind(mark int64) error {
	r.csv.Flush()
	_, err := r.file.Seek(mark, io.SeekStart)
	return errors.Join(r.csv.Error(), r.file.Truncate(mark), err)
}

// keep renames the file, once its content is on the disk.
func (r *rowFile) keep() error {
	r.csv.Flush()
	err := errors.Join(r.csv.Error(), r.file.Sync(), r.file.Close())
	if err == nil {
		err = os.Rename(r.file.Name(), r.path)
	}
	r.kept = err == nil
	return err
}

// discard removes the file, unless it was kept.
func (r *rowFile) discard() {
	if !r.kept {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
}
