package netns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Link is a link between two namespaces.
type Link struct {
	tb              testing.TB
	device          string // name of the device at each end
	client, service end
}

// end is one end of a link.
type end struct {
	*namespace
	address, mac     string
	neighbour, their string // address and mac of the other end
}

// namespace exists as long as its thread or a process in it.
type namespace struct {
	work chan func()
	path string
}

const (
	serviceMAC = "02:00:00:00:00:01"
	clientMAC  = "02:00:00:00:00:02"
	otherMAC   = "02:00:00:00:00:ff" // of an end that must lose the packets sent to it
)

// New makes a link that is up.
func New(tb testing.TB) *Link {
	tb.Helper()
	return connect(tb, "veth0", begin(tb), begin(tb), ClientAddress, ServiceAddress)
}

// Through makes two links that are up, for a proxy between a client and a service. front leads from the client to the proxy, which is the
// service of front. back leads from the proxy, which is the client of back, to the service.
func Through(tb testing.TB) (front, back *Link) {
	tb.Helper()
	proxy := begin(tb)
	front = connect(tb, "veth0", begin(tb), proxy, ClientAddress, ServiceAddress)
	// The proxy has an end of each link: the links differ in their devices and networks.
	back = connect(tb, "veth1", proxy, begin(tb), "198.51.100.2", "198.51.100.1")
	return front, back
}

func connect(tb testing.TB, device string, client, service *namespace, clientAddress, serviceAddress string) *Link {
	tb.Helper()
	l := &Link{
		tb: tb, device: device,
		service: end{service, serviceAddress, serviceMAC, clientAddress, clientMAC},
		client:  end{client, clientAddress, clientMAC, serviceAddress, serviceMAC},
	}
	// With different indexes, the kernel reports a change of one end to the other end at once; with equal indexes, within a second.
	l.ip(l.service, "link add "+device+" index 10 address "+serviceMAC+" type veth peer name "+device+" index 20 address "+clientMAC+
		" netns "+l.client.path)
	for _, e := range []end{l.service, l.client} {
		l.ip(e, "addr add "+e.address+"/24 dev "+device, "link set "+device+" up", l.known(e))
	}
	return l
}

// begin makes a namespace, whose thread executes all functions passed to do.
func begin(tb testing.TB) *namespace {
	tb.Helper()
	Need(tb, "ip")
	if os.Geteuid() != 0 {
		check(tb, errUnavailable)
	}
	n := &namespace{work: make(chan func())}
	began := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with the goroutine, and the namespace with the thread
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		n.path = fmt.Sprintf("/proc/%d/task/%d/ns/net", os.Getpid(), syscall.Gettid())
		began <- err
		for f := range n.work {
			f()
		}
	}()
	tb.Cleanup(func() { close(n.work) })
	if err := <-began; err != nil {
		check(tb, fmt.Errorf("%w: %w", errUnavailable, err))
	}
	return n
}

// do runs f on the thread of n.
func (n *namespace) do(f func()) {
	done := make(chan struct{})
	n.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// known returns the command that makes ARP unnecessary at e. ARP would delay the first packet after a change.
func (l *Link) known(e end) string {
	return "neigh replace " + e.neighbour + " lladdr " + e.their + " dev " + l.device + " nud permanent"
}

// ip runs commands of the program ip at e.
func (l *Link) ip(e end, lines ...string) {
	l.tb.Helper()
	command := exec.CommandContext(context.Background(), "ip", "-batch", "-")
	command.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var printed []byte
	var err error
	e.do(func() { printed, err = command.CombinedOutput() })
	if err != nil {
		l.tb.Fatalf("ip: %v: %s", err, printed)
	}
}

// Listen listens at the service's end.
func (l *Link) Listen() net.Listener {
	l.tb.Helper()
	var listener net.Listener
	var err error
	l.service.do(func() {
		listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", l.service.address+":0")
	})
	check(l.tb, err)
	return listener
}

// Start starts a process at the client's end. The test must wait for the process.
func (l *Link) Start(command *exec.Cmd) (err error) {
	l.client.do(func() { err = command.Start() })
	return err
}

// Cut takes the link down: nothing leaves either end, as with an unplugged cable.
func (l *Link) Cut() {
	l.tb.Helper()
	l.ip(l.service, "link set "+l.device+" down")
}

// Lose loses the packets of one or both directions: they leave one end and do not arrive at the other end. For this, it
// changes the MAC address of the receiver.
func (l *Link) Lose(way Direction) {
	l.tb.Helper()
	for e, lost := range map[end]Direction{l.service: ToService, l.client: ToClient} {
		if way&lost != 0 {
			l.ip(e, "link set "+l.device+" address "+otherMAC, l.known(e))
		}
	}
}

// Heal ends the effects of Cut and Lose.
func (l *Link) Heal() {
	l.tb.Helper()
	for _, e := range []end{l.service, l.client} {
		l.ip(e, "link set "+l.device+" address "+e.mac+" up", l.known(e))
	}
}

// Interrupt interrupts the link eight times: in turn, it cuts the link and loses requests. Each interruption begins when due returns true,
// and lasts 0.3 to 2.3 times a client's wait. During the third and sixth, it calls kill, which kills a client and starts another.
func (l *Link) Interrupt(tb testing.TB, wait, patience time.Duration, due func(count int) bool, kill func(count int)) {
	tb.Helper()
	for i, tenths := range []time.Duration{3, 14, 8, 23, 9, 11, 6, 17} {
		for waiting := time.Now(); !due(i); time.Sleep(time.Millisecond) {
			if time.Since(waiting) > patience {
				tb.Fatalf("what interruption %d waits for did not happen", i)
			}
		}
		if i%2 == 0 {
			l.Cut()
		} else {
			l.Lose(ToService) // responses arrive, and more requests follow
		}
		began, away := time.Now(), tenths*wait/10
		if i == 2 || i == 5 {
			time.Sleep(rand.N(away))
			kill(i)
		}
		time.Sleep(time.Until(began.Add(away)))
		l.Heal()
	}
}
