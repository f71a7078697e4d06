package netns

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Link is a pair of namespaces and the link between them.
type Link struct {
	tb              testing.TB
	client, service *namespace
}

// namespace is one end of a link. It exists as long as its thread or a process in it.
type namespace struct {
	work             chan func()
	path             string
	address, mac     string
	neighbour, their string // address and mac of the other end
}

const (
	device     = "veth0" // name of the device at each end
	serviceMAC = "02:00:00:00:00:01"
	clientMAC  = "02:00:00:00:00:02"
	otherMAC   = "02:00:00:00:00:ff" // of an end that must lose the packets sent to it
)

// New makes a link that is up.
func New(tb testing.TB) *Link {
	tb.Helper()
	if _, err := exec.LookPath("ip"); err != nil || os.Geteuid() != 0 {
		check(tb, errUnavailable)
	}
	l := &Link{
		tb:      tb,
		service: &namespace{address: ServiceAddress, mac: serviceMAC, neighbour: ClientAddress, their: clientMAC},
		client:  &namespace{address: ClientAddress, mac: clientMAC, neighbour: ServiceAddress, their: serviceMAC},
	}
	check(tb, l.service.begin(tb))
	check(tb, l.client.begin(tb))
	// With different indexes, the kernel reports a change of one end to the other end at once; with equal indexes, within a second.
	l.ip(l.service, "link add "+device+" index 10 address "+serviceMAC+" type veth peer name "+device+" index 20 address "+clientMAC+
		" netns "+l.client.path)
	for _, end := range []*namespace{l.service, l.client} {
		l.ip(end, "addr add "+end.address+"/24 dev "+device, "link set "+device+" up", end.known())
	}
	return l
}

// begin starts the thread of n, which executes all functions passed to do.
func (n *namespace) begin(tb testing.TB) error {
	n.work = make(chan func())
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
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return nil
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

// known returns the command that makes ARP unnecessary in n. ARP would delay the first packet after a change.
func (n *namespace) known() string {
	return "neigh replace " + n.neighbour + " lladdr " + n.their + " dev " + device + " nud permanent"
}

// ip runs commands of the program ip in n.
func (l *Link) ip(n *namespace, lines ...string) {
	l.tb.Helper()
	command := exec.CommandContext(context.Background(), "ip", "-batch", "-")
	command.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var printed []byte
	var err error
	n.do(func() { printed, err = command.CombinedOutput() })
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
		listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", ServiceAddress+":0")
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
	l.ip(l.service, "link set "+device+" down")
}

// Lose loses the packets of one or both directions: they leave one end and do not arrive at the other end. For this, it
// changes the MAC address of the receiver.
func (l *Link) Lose(way Direction) {
	l.tb.Helper()
	for end, lost := range map[*namespace]Direction{l.service: ToService, l.client: ToClient} {
		if way&lost != 0 {
			l.ip(end, "link set "+device+" address "+otherMAC, end.known())
		}
	}
}

// Heal ends the effects of Cut and Lose.
func (l *Link) Heal() {
	l.tb.Helper()
	for _, end := range []*namespace{l.service, l.client} {
		l.ip(end, "link set "+device+" address "+end.mac+" up", end.known())
	}
}
