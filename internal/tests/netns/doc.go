// Package netns gives a test its own link between two network namespaces, a client's and a service's. The test can listen at the service's
// end, start processes at the client's end, cut the link, lose packets in one direction, and record packets that leave the client.
// [Through] gives it two links, with a proxy's namespace between them.
//
// Loopback cannot show these faults: it is never down, so the kernel never resends.
//
// The package needs Linux, root and the program ip of iproute2. Without them, [New] skips the test, or fails if PREPAID_TEST_NETNS=required.
// Namespaces have no names and no files: they end with the test, or with its process, however the process ends.
package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

const (
	// ServiceAddress and ClientAddress are the two ends of a link from New, and of the front link from Through.
	// Links of different tests do not see each other.
	ServiceAddress = "192.0.2.1"
	ClientAddress  = "192.0.2.2"
)

// Direction is the direction in which packets are lost.
type Direction int

const (
	// ToService loses requests, and the client's acknowledgements and resets.
	ToService Direction = 1 << iota
	// ToClient loses responses, and the service's acknowledgements and resets.
	ToClient
)

// Segment is a TCP segment that left the client's interface.
type Segment struct {
	At     time.Time // the kernel's time
	From   int       // the client's port
	To     int
	Opens  bool // opens a connection: an earlier connection may have had the same port
	Reset  bool
	Length int // of the payload
}

var errUnavailable = errors.New("network namespaces need Linux, root and ip of iproute2")

// Need skips the test if a program is missing, or fails if PREPAID_TEST_NETNS=required.
func Need(tb testing.TB, program string) {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		check(tb, fmt.Errorf("%w; %w", errUnavailable, err))
	}
}

// check skips or fails the test if there is no link.
func check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, errUnavailable) && os.Getenv("PREPAID_TEST_NETNS") != "required" {
		tb.Skipf("%v; PREPAID_TEST_NETNS=required makes this a failure", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
