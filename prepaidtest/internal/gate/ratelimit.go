package gate

import (
	"maps"
	"slices"
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
	ends    time.Time
	count   int
	refused int // in all windows of the address
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
	window.refused++
	return max(window.ends.Sub(now), 1)
}

// Window is how much of its allowance an address has used.
type Window struct {
	Address string
	Used    int // at most the limit
	Limit   int
	EndsAt  time.Time // not after now if no window is open
	Refused int       // with 429, in all windows of the address
}

// Windows returns the use of each address at the time now, sorted by address; no windows if the limit is off.
func (l *RateLimiter) Windows(now time.Time) []Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []Window{}
	for _, address := range slices.Sorted(maps.Keys(l.windows)) {
		open := l.windows[address]
		shown := Window{Address: address, Limit: l.Limit, EndsAt: open.ends, Refused: open.refused}
		if now.Before(open.ends) {
			shown.Used = min(open.count, l.Limit)
		}
		list = append(list, shown)
	}
	return list
}
