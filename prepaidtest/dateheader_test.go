package prepaidtest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The Date header follows the server's clock, in every form of response.
func TestClock_DateHeader(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	c := start(t, Options{StartAt: at, FrozenClock: true, ReportDelay: time.Hour})
	run := string(c.get(settlement + "?include_column_headers=false").ok().body)
	for range 2 {
		now := c.Now().UTC().Format(http.TimeFormat)
		for path, status := range map[string]int{
			"policy/mccodes": 200, "accounts/nobody": 404, "nowhere": 404, settlement + "/reports/" + run: 204,
		} {
			got := c.get(path)
			require.Equal(t, status, got.status)
			require.Equal(t, []string{now}, got.header["Date"], path)
		}
		c.Advance(30 * time.Minute)
	}
}
