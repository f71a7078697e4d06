package gate

import (
	"sync"
	"time"
)

// RateLimiter counts requests by client address in fixed windows (section 8).
type RateLimiter struct {
	Limit int // 0 means no limit
	span  time.Duration

	mu      sync.Mutex
	windows map[string]*rateWindow
}

type rateWindow struct {
	ends  time.Time
	count int
}

// NewRateLimiter makes a limiter of limit requests in span; a limit of 0 means no limit.
func NewRateLimiter(limit int, span time.Duration) *RateLimiter {
	return &RateLimiter{Limit: limit, span: span, windows: make(map[string]*rateWindow)}
}

// Exceeded counts a request and returns how long the address is still refused, or zero.
func (l *RateLimiter) Exceeded(address string, now time.Time) time.Duration {
	if l.Limit == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	window := l.windows[address]
	if window == nil {
		if len(l.windows) > 1000 {
			clear(l.windows) // too many addresses: a few open windows are lost, but the memory is limited
		}
		window = new(rateWindow)
		l.windows[address] = window
	}
	if !now.Before(window.ends) {
		window.ends, window.count = now.Add(l.span), 0
	}
	window.count++
	if window.count <= l.Limit {
		return 0
	}
	return max(window.ends.Sub(now), 1)
}
