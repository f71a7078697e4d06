package main

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	select {
	case <-time.After(pageDelay):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	page := newMemory("["+accountBody(number)+"]", 1)
	page.header["X-Totalpages"] = []string{strconv.Itoa(pageCount)}
	page.header["X-Totalitems"] = []string{strconv.Itoa(pageCount)}
	s.served.Add(1)
	return page.RoundTrip(req)
}

// pageRun is an iteration over pages, or the sum and the maxima of some.
type pageRun struct {
	took       time.Duration
	held       int // greatest number of pages held at the same time
	unneeded   int // pages requested and not needed
	goroutines int // goroutines left after the iteration
}

// read adds an iteration over the given number of pages. At most window pages are in flight or held at the same time.
func (r *pageRun) read(b *testing.B, window, pages int) {
	before := runtime.NumGoroutine()
	r.iterate(b, window, pages)
	left := 0
	for range 100 { // goroutines of the client are ending
		if left = runtime.NumGoroutine() - before; left <= 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.goroutines = max(r.goroutines, left)
}

func (r *pageRun) iterate(b *testing.B, window, pages int) {
	service := &slowPages{}
	client := newClient(b, base, service)
	defer func() { require.NoError(b, client.Close()) }()
	_, err := client.Token(context.Background())
	require.NoError(b, err)
	began, taken := time.Now(), 0
	search := prepaid.SearchCompanyParams{Paging: prepaid.Paging{Prefetch: window - 1}}
	for account, err := range client.Accounts.SearchCompany(context.Background(), 40000, search) {
		require.NoError(b, err)
		taken++
		require.EqualValues(b, fmt.Sprintf("EAID%016d", taken), account.ID)
		r.held = max(r.held, int(service.served.Load())-taken+1)
		if taken == pages {
			break
		}
	}
	r.took += time.Since(began)
	r.unneeded = max(r.unneeded, int(service.asked.Load())-pages)
	require.Equal(b, pages, taken)
}

func BenchmarkPages(b *testing.B) {
	for _, window := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			var all, early pageRun
			for b.Loop() {
				all.read(b, window, pageCount)
			}
			for _, wanted := range []int{1, 2, 3, 10, 50} {
				early.read(b, window, wanted)
			}
			b.ReportMetric(float64(all.took)/float64(b.N), "ns/op") // without the token and the end of the client
			b.ReportMetric(float64(all.held), "held")
			b.ReportMetric(float64(all.unneeded), "beyond")
			b.ReportMetric(float64(early.unneeded), "unneeded")
			b.ReportMetric(float64(max(all.goroutines, early.goroutines)), "goroutines")
		})
	}
}
