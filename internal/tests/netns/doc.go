// Package netns gives a test a link of its own between two network namespaces, a client's and a service's. The test listens in
// one, starts processes in the other, cuts the link or loses packets in one direction, and records what leaves the client.
//
// Loopback cannot show these faults: it is never down, so nothing is ever sent again by the kernel.
//
// It needs Linux, root and ip of iproute2. Without them, [New] skips the test, and fails it if PREPAID_NETNS=required.
// Namespaces have no names and no files: they end with the test, or with its process, however that ends.
package netns

import (
	"errors"
	"os"
	"testing"
	"time"
)

const (
	// ServiceAddress and ClientAddress are the two ends of every link, which do not see each other's links.
	ServiceAddress = "192.0.2.1"
	ClientAddress  = "192.0.2.2"
)

// Direction is the way of packets that are lost.
type Direction int

const (
	// ToService loses requests, and the client's acknowledgements and resets.
	ToService Direction = 1 << iota
	// ToClient loses responses, and the service's acknowledgements and resets.
	ToClient
)

// Segment is a TCP segment that left the client's interface.
type Segment struct {
	At     time.Time // by the kernel
	From   int       // the client's port
	To     int
	Opens  bool // a connection: the port may have been another one's
	Reset  bool
	Length int // of the payload
}

var errUnavailable = errors.New("network namespaces need Linux, root and ip of iproute2")

// check ends a test for which there is no link.
func check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, errUnavailable) && os.Getenv("PREPAID_NETNS") != "required" {
		tb.Skipf("%v; PREPAID_NETNS=required makes this a failure", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
