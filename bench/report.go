package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	rowsByHand = "rows without the client"
	rowsByUs   = "rows with the client"
	fileByHand = "file without the client"
	fileByUs   = "file with the client"

	reportBytes = 256 << 20

	busy = "in wall time, with the server on the same cores, it is close to its goal and misses it in some runs; see docs/performance.md"
)

// readReport is main of a child that reads one report in one of the four ways and prints a reading.
func readReport(address, how, rows string) error {
	want, err := strconv.Atoi(rows)
	if err != nil {
		return err
	}
	ways := map[string]func(address, rows string) (int, error){
		rowsByHand: readRowsByHand, rowsByUs: readRowsByUs, fileByHand: copyByHand, fileByUs: copyByUs,
	}
	began := time.Now()
	got, err := ways[how](address, rows)
	took := time.Since(began)
	if err == nil && got != want {
		err = fmt.Errorf("%d rows instead of %d", got, want)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(reading{Seconds: took.Seconds(), Peak: peakMemory()})
}

// getReport returns the response with the report, without the client.
func getReport(address, rows string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address+"reporting/templates/daily/reports/"+rows, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

func readRowsByHand(address, rows string) (int, error) {
	body, err := getReport(address, rows)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }()
	all, err := io.ReadAll(body)
	if err != nil {
		return 0, err
	}
	var report struct {
		Data  string `json:"reportdata"`
		Total int    `json:"totalrecords"`
	}
	if err := json.Unmarshal(all, &report); err != nil {
		return 0, err
	}
	reader := csv.NewReader(strings.NewReader(report.Data))
	reader.ReuseRecord = true
	for n := 0; ; n++ {
		if _, err := reader.Read(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// openReport returns a report opened with the client.
func openReport(address, rows string) (*prepaid.ReportReader, error) {
	client, err := newClient(address, nil)
	if err != nil {
		return nil, err
	}
	return client.Reporting.Open(context.Background(), prepaid.ReportRun{Template: "daily", ID: rows}, prepaid.WaitOptions{})
}

func readRowsByUs(address, rows string) (int, error) {
	reader, err := openReport(address, rows)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, err := range reader.Rows() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func copyByHand(address, rows string) (int, error) {
	body, err := getReport(address, rows)
	if err != nil {
		return 0, err
	}
	if err := copyToFile(body); err != nil {
		return 0, err
	}
	return strconv.Atoi(rows)
}

func copyByUs(address, rows string) (int, error) {
	reader, err := openReport(address, rows)
	if err != nil {
		return 0, err
	}
	if err := copyToFile(reader); err != nil {
		return 0, err
	}
	total, _ := reader.TotalRecords()
	return int(total), nil
}

// copyToFile copies like io.Copy, and closes from.
func copyToFile(from io.ReadCloser) error {
	defer func() { _ = from.Close() }()
	file, err := os.CreateTemp("", "report-*.csv")
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	_, err = io.Copy(file, from)
	return err
}

// inTurns reads the report in both ways, alternately, and returns the medians.
func inTurns(address, floor, ours string, rows, rounds int) (reading, reading, error) {
	var seconds, peaks [2][]float64
	for i := range 2 * rounds {
		which := (i + i/2) % 2
		r, err := readInChild(address, [2]string{floor, ours}[which], rows)
		if err != nil {
			return reading{}, reading{}, err
		}
		seconds[which], peaks[which] = append(seconds[which], r.Seconds), append(peaks[which], r.Peak)
	}
	at := func(i int) reading { return reading{Seconds: median(seconds[i]), Peak: median(peaks[i])} }
	return at(0), at(1), nil
}

func reportRows(rounds int) ([]row, error) {
	address, stop, err := startServer()
	if err != nil {
		return nil, err
	}
	defer stop()
	const rows = reportBytes / len(reportLine)
	floor, ours, err := inTurns(address, rowsByHand, rowsByUs, rows, rounds)
	if err != nil {
		return nil, err
	}
	copied, text, err := inTurns(address, fileByHand, fileByUs, rows, rounds)
	if err != nil {
		return nil, err
	}
	speed := func(r reading) float64 { return reportBytes / r.Seconds }
	return []row{
		atLeast("report of 256 MB, rows", speed(floor), speed(ours), 5, perSecond).because(busy),
		bounded("report of 256 MB, rows, peak memory of the process", ours.Peak, 16<<20, megabytes),
		atLeast("report of 256 MB, text to a file", speed(copied), speed(text), 0.6, perSecond).because(busy),
	}, nil
}

// loopbackRows measures one account over TCP: the cost of the client's side.
func loopbackRows(rounds int) ([]row, error) {
	address, stop, err := startServer()
	if err != nil {
		return nil, err
	}
	defer stop()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	floor, ours, err := compare(rounds, callsOfClient, floorSide(address, transport, floorGetAccount), clientSide(address, transport, getAccount))
	if err != nil {
		return nil, err
	}
	return []row{atMost("one account over TCP, client's processor time", floor.nanoseconds, ours.nanoseconds, 1, nanoseconds)}, nil
}
