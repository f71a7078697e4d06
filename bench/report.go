package main

import (
	"net/http"
	"strconv"
)

const reportBytes = 256 << 20

func reportRows(rounds int) ([]row, error) {
	address, stop, err := startServer()
	if err != nil {
		return nil, err
	}
	defer stop()
	built, remove, err := buildPrograms("empty", "raw", "client")
	if err != nil {
		return nil, err
	}
	defer remove()
	const count = reportBytes / len(reportLine)
	task := func(program, task string, count int) []string {
		return []string{built[program], task, address, strconv.Itoa(count)}
	}
	all, err := inTurns(rounds, nil, task("raw", "rows", count), task("client", "rows", count), task("raw", "file", count),
		task("client", "file", count), task("raw", "strings", count), task("client", "file", 1), task("empty", "", 0))
	if err != nil {
		return nil, err
	}
	rawRows, rows, rawFile, file, strings, short, empty := all[0], all[1], all[2], all[3], all[4], all[5], all[6]
	speed := func(m measured) float64 { return reportBytes / m.processor * 1e9 }
	most := empty.peak + 6e6
	return []row{
		atLeast("report of 256 MB, rows, client's processor time", speed(rawRows), speed(rows), 5, perSecond),
		atLeast("report of 256 MB, text to a file, client's processor time", speed(rawFile), speed(file), 0.6, perSecond),
		bounded("report of 256 MB, rows, resident memory", rows.peak, most, megabytes).from(strings.peak, megabytes).
			because("the baseline is a program that makes a string of each row and does nothing else: the heap grows to 4 MB before the collector runs"),
		bounded("report of 256 MB, text to a file, resident memory", file.peak, most, megabytes).from(short.peak, megabytes).
			because("the baseline is the same program reading a report of one row: nearly all of it is the program's own pages"),
		bounded("report of 256 MB, text to a file, memory more than for one row", file.peak-short.peak, 1e6, megabytes),
	}, nil
}

// loopbackRows measures one account and one transfer over TCP: the cost of the client's side. The client's transfer also sets two
// options of the connection, so that no part of the request arrives after the attempt.
func loopbackRows(rounds int) ([]row, error) {
	address, stop, err := startServer()
	if err != nil {
		return nil, err
	}
	defer stop()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	baseline, ours, err := compare(rounds, callsOfClient, baselineSide(address, transport, baselineGetAccount()), clientSide(address, transport, getAccount))
	if err != nil {
		return nil, err
	}
	without, with, _ := transfers()
	baselinePays, oursPays, err := compare(rounds, callsOfClient, baselineSide(address, transport, without), clientSide(address, transport, with))
	if err != nil {
		return nil, err
	}
	return []row{
		atMost("one account over TCP, client's processor time", baseline.nanoseconds, ours.nanoseconds, 1, nanoseconds),
		atMost("one transfer over TCP, client's processor time", baselinePays.nanoseconds, oursPays.nanoseconds, 1.2, nanoseconds),
	}, nil
}
