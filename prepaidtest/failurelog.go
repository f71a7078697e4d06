package prepaidtest

import (
	"fmt"
	"strings"
)

// The numbers of requests and deliveries that a failed test shows.
const failureRequests, failureDeliveries = 20, 10

// explain writes the server's last requests to the log of a failed test.
func (s *Server) explain() {
	if !s.tb.Failed() {
		return
	}
	if twice := s.PaidTwice(); len(twice) > 0 {
		s.tb.Logf("prepaidtest: request ids with more than one movement: %q", twice)
	}
	requests, deliveries := s.Requests(), s.Deliveries()
	if text := lastLines(requests, failureRequests); text != "" {
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
