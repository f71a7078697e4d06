package exchange

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the wait that the Retry-After header gives, in seconds or as a date, which counts from the Date header or else from
// now. It is zero if the header is absent or malformed.
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
		if sent, err := http.ParseTime(header.Get("Date")); err == nil {
			now = sent // the local clock may be wrong
		}
		return max(date.Sub(now), 0)
	}
	return 0
}
