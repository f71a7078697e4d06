package main

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

const (
	tokenCallers = 1000
	tokenDelay   = 200 * time.Millisecond
	tokenStall   = tokenDelay / 2 // a longer call has waited for the endpoint
)

// slowToken responds to token requests after a delay.
type slowToken struct{ exchanges atomic.Int64 }

func (s *slowToken) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(tokenDelay)
	s.exchanges.Add(1)
	body := strings.Replace(tokenBody, "86400", "4", 1) // renewed at half its life
	return newMemory(body, 0).respond(req, []byte(body)), nil
}

// Token is the source for x/oauth2's own cache. Its tokens live for 12 s; the cache drops a token 10 s before its end.
func (s *slowToken) Token() (*oauth2.Token, error) {
	time.Sleep(tokenDelay)
	s.exchanges.Add(1)
	return &oauth2.Token{AccessToken: "token", Expiry: time.Now().Add(12 * time.Second)}, nil
}

// BenchmarkTokenRenewal lets all callers request tokens until two exchanges are done. It counts callers that had a stalled call.
func BenchmarkTokenRenewal(b *testing.B) {
	run := func(side string, open func(*slowToken) (token, done func() error)) {
		b.Run("side="+side, func(b *testing.B) {
			stalled := 0
			for b.Loop() {
				service := &slowToken{}
				token, done := open(service)
				stalled = max(stalled, stalledCallers(b, token, &service.exchanges))
				require.NoError(b, done())
			}
			b.ReportMetric(float64(stalled), "stalled")
		})
	}
	run("baseline", func(s *slowToken) (func() error, func() error) {
		source := oauth2.ReuseTokenSource(nil, s)
		return func() error { _, err := source.Token(); return err }, func() error { return nil }
	})
	run("ours", func(s *slowToken) (func() error, func() error) {
		client := newClient(b, base, s)
		return func() error { _, err := client.Token(context.Background()); return err }, client.Close
	})
}

func stalledCallers(b *testing.B, token func() error, exchanges *atomic.Int64) int {
	require.NoError(b, token())
	var stalled atomic.Int64
	var callers sync.WaitGroup
	limit := time.Now().Add(10 * time.Second)
	for range tokenCallers {
		callers.Go(func() {
			waited := false
			for exchanges.Load() < 2 && time.Now().Before(limit) {
				began := time.Now()
				if err := token(); err != nil {
					b.Error(err)
					return
				}
				waited = waited || time.Since(began) >= tokenStall
				time.Sleep(20 * time.Millisecond)
			}
			if waited {
				stalled.Add(1)
			}
		})
	}
	callers.Wait()
	require.GreaterOrEqual(b, exchanges.Load(), int64(2), "the token was not renewed")
	return int(stalled.Load())
}

// BenchmarkToken requests a valid token, on two cores.
func BenchmarkToken(b *testing.B) {
	static := oauth2.ReuseTokenSource(&oauth2.Token{AccessToken: "token", Expiry: time.Now().Add(time.Hour)}, &slowToken{})
	client := newClient(b, base, newMemory(tokenBody, 0))
	defer func() { require.NoError(b, client.Close()) }()
	run := func(side string, token func() error) {
		b.Run("side="+side, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			b.ReportAllocs()
			b.RunParallel(func(each *testing.PB) {
				for each.Next() {
					if err := token(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	run("baseline", func() error { _, err := static.Token(); return err })
	run("ours", func() error { _, err := client.Token(context.Background()); return err })
}

// BenchmarkLimiter is the baseline of BenchmarkSlotLimiter: a wait that does not block.
func BenchmarkLimiter(b *testing.B) {
	b.Run("side=baseline", func(b *testing.B) {
		limiter := rate.NewLimiter(rate.Limit(1e9), 1<<17)
		for b.Loop() {
			if err := limiter.Wait(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
