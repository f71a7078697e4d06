package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const (
	madeUpTemplate = "movements"
	madeUpRows     = 100_000
	madeUpBreak    = 60_000 // row at which the first download breaks off
)

var errBroken = errors.New("the connection breaks")

// demonstrate starts a report on an emulator, loses the connection while it reads the rows, and resumes the run by the run's ID.
func demonstrate(ctx context.Context, opts options, out io.Writer, progress *progressbar.ProgressBar) (err error) {
	emulator, err := prepaidtest.Start(prepaidtest.Options{ReportDelay: time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, emulator.Close()) }()
	var readings atomic.Int32
	emulator.AddReport(madeUpTemplate, func(w io.Writer, headers bool) (int, error) {
		if readings.Add(1) == 1 {
			records, err := writeMadeUp(w, headers, madeUpBreak)
			return records, errors.Join(err, errBroken)
		}
		return writeMadeUp(w, headers, madeUpRows)
	})
	fmt.Fprintln(out, "An emulator runs inside this process; nothing leaves this machine.")
	d := &download{reporting: emulator.Client().Reporting, options: opts, out: out, progress: progress, emulated: true}
	first := d.do(ctx)
	if !incomplete(first) || ctx.Err() != nil {
		return first
	}
	fmt.Fprintln(out, "report:", first)
	d.resume = d.run.ID
	return d.do(ctx)
}

// writeMadeUp writes synthetic rows, and keeps no row in memory.
func writeMadeUp(w io.Writer, headers bool, count int) (int, error) {
	rows := csv.NewWriter(w)
	if headers {
		_ = rows.Write([]string{"id", "account_id", "occurred_at", "type", "amount", "note"}) // rows keeps its first error
	}
	begin := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for n := range count {
		note := ""
		if n%97 == 0 {
			note = "said \"thank you\",\nand left"
		}
		if err := rows.Write([]string{
			strconv.Itoa(100_000_000 + n), fmt.Sprintf("EA%06d", n*31%5000),
			begin.Add(time.Duration(n) * time.Minute).Format(time.RFC3339), "1118",
			prepaid.Cents(int64(n*7919%20_000) - 12_000).String(), note,
		}); err != nil {
			return n, err
		}
	}
	rows.Flush()
	return count, rows.Error()
}
