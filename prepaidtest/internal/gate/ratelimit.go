package gate

import (
	"sync"
	"time"
)

// RateLimiter counts requests by client address in fixed windows (section 8).
type RateLimiter struct {
	Limit int // 0 is off
	span  time.Duration

	mu      sync.Mutex
	windows map[string]*rateWindow
}

type rateWindow struct {
	ends  time.Time
	count int
}

// NewRateLimiter makes a limiter of limit requests in span; 0 is off.
func NewRateLimiter(limit int, span time.Duration) *RateLimiter {
	return &RateLimiter{Limit: limit, span: span, windows: make(map[string]*rateWindow)}
}

// Exceeded counts a request and returns how long the address is still shut out, or zero.
func (l *RateLimiter) Exceeded(address string, now time.Time) time.Duration {
	if l.Limit == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	window := l.windows[address]
	if window == nil || !now.Before(window.ends) {
		if len(l.windows) > 1000 {
			clear(l.windows) // many addresses: forgetting a few open windows is better than growing
		}
		window = &rateWindow{ends: now.Add(l.span)}
		l.windows[address] = window
	}
	window.count++
	if window.count <= l.Limit {
		return 0
	}
	return max(window.ends.Sub(now), 1)
}
