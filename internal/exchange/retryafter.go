package exchange

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the wait that the Retry-After header gives in seconds or as a date; zero if it is absent or malformed.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		const longest = int64(365 * 24 * time.Hour / time.Second)
		return time.Duration(min(max(seconds, 0), longest)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
