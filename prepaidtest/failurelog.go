package prepaidtest

import (
	"fmt"
	"strings"
)

// failureDeliveries is how many deliveries a failed test shows.
const failureDeliveries = 10

// explain writes the server's last requests to the log of a failed test.
func (s *Server) explain() {
	if s.settings.LogOnFailure == 0 || !s.tb.Failed() {
		return
	}
	if twice := s.PaidTwice(); len(twice) > 0 {
		s.tb.Logf("prepaidtest: request ids with more than one movement: %q", twice)
	}
	requests, deliveries := s.Requests(), s.Deliveries()
	if text := lastLines(requests, s.settings.LogOnFailure); text != "" {
		s.tb.Logf("prepaidtest: the last requests, oldest first:%s", text)
	}
	if text := lastLines(deliveries, failureDeliveries); text != "" {
		s.tb.Logf("prepaidtest: the last deliveries, oldest first:%s", text)
	}
}

func lastLines[T any](entries []T, n int) string {
	var text strings.Builder
	for _, entry := range entries[max(len(entries)-n, 0):] {
		fmt.Fprintf(&text, "\n\t%v", entry)
	}
	return text.String()
}
