package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	pageCount = 100
	pageDelay = 50 * time.Millisecond
)

// slowPages serves and counts pages with one account each. It serves each page after a delay.
type slowPages struct {
	asked  atomic.Int64
	served atomic.Int64
}

func (s *slowPages) RoundTrip(req *http.Request) (*http.Response, error) {
	number, err := strconv.Atoi(req.URL.Query().Get("page_number"))
	if err != nil { // the token request
		return newMemory("", 0).RoundTrip(req)
	}
	s.asked.Add(1)
	timer := time.NewTimer(pageDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	page := newMemory("["+accountBody(number)+"]", 1)
	page.header["X-Totalpages"] = []string{strconv.Itoa(pageCount)}
	page.header["X-Totalitems"] = []string{strconv.Itoa(pageCount)}
	s.served.Add(1)
	return page.RoundTrip(req)
}

// pageRun is one iteration over the pages.
type pageRun struct {
	took time.Duration
	held int // greatest number of pages held at the same time
	over int // pages requested and not needed
	left int // goroutines left after the iteration
}

// readPages reads the given number of pages. At most window pages are in flight or held at the same time.
func readPages(window, pages int) (pageRun, error) {
	before := runtime.NumGoroutine()
	run, err := iterate(window, pages)
	for range 100 { // goroutines of the client are ending
		if run.left = runtime.NumGoroutine() - before; run.left <= 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return run, err
}

func iterate(window, pages int) (pageRun, error) {
	service := &slowPages{}
	client, err := newClient(base, service)
	if err != nil {
		return pageRun{}, err
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Token(context.Background()); err != nil {
		return pageRun{}, err
	}
	var run pageRun
	began, taken := time.Now(), 0
	search := prepaid.SearchCompanyParams{Paging: prepaid.Paging{Prefetch: window - 1}}
	for account, err := range client.Accounts.SearchCompany(context.Background(), 40000, search) {
		if err != nil {
			return run, err
		}
		taken++
		if want := fmt.Sprintf("EAID%016d", taken); string(account.ID) != want {
			return run, fmt.Errorf("account %s arrived out of order", account.ID)
		}
		run.held = max(run.held, int(service.served.Load())-taken+1)
		if taken == pages {
			break
		}
	}
	run.took = time.Since(began)
	run.over = int(service.asked.Load()) - pages
	if taken != pages {
		return run, fmt.Errorf("%d pages instead of %d", taken, pages)
	}
	return run, nil
}

func pageRows(rounds int) ([]row, error) {
	var times [4][]float64
	windows := [4]int{1, 4, 8, 16}
	var held, over [4]int
	extra, left := 0, 0
	for range rounds {
		for i, window := range windows {
			run, err := readPages(window, pageCount)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], float64(run.took))
			held[i], extra, left = max(held[i], run.held), max(extra, run.over), max(left, run.left)
		}
	}
	for i, window := range windows {
		for _, wanted := range []int{1, 2, 3, 10, 50} {
			run, err := readPages(window, wanted)
			if err != nil {
				return nil, err
			}
			over[i], left = max(over[i], run.over), max(left, run.left)
		}
	}
	var rows []row
	for i, window := range windows[1:] {
		name := fmt.Sprintf("100 pages, window %d", window)
		// The first page is requested alone: its response has the number of pages. A round takes as long as a single page.
		bound := 1 + (pageCount-1+window-1)/window
		rounds := median(times[i+1]) / (median(times[0]) / pageCount)
		rows = append(rows,
			atMost(name+", rounds", float64(bound), rounds, 1.1, decimals),
			bounded(name+", pages held", float64(held[i+1]), float64(window), count).counted(),
			bounded(name+", pages too many on an early stop", float64(over[i+1]), float64(window-1), count).counted(),
		)
	}
	return append(rows,
		bounded("100 pages, requests beyond 100", float64(extra), 0, count).counted(),
		bounded("100 pages, goroutines left", float64(left), 0, count).counted(),
	), nil
}
