package netns

import (
	"encoding/binary"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Capture records the TCP segments that leave the client's interface until the test ends. The returned function returns
// the segments so far.
func (l *Link) Capture() func() []Segment {
	l.tb.Helper()
	var socket *os.File
	var err error
	l.client.do(func() { socket, err = packets(l.device) })
	check(l.tb, err)
	raw, err := socket.SyscallConn()
	check(l.tb, err)
	var mu sync.Mutex
	var seen []Segment
	var ended sync.WaitGroup
	ended.Go(func() {
		packet, control := make([]byte, 1<<16), make([]byte, 256)
		_ = raw.Read(func(fd uintptr) bool {
			for {
				n, controls, _, from, err := syscall.Recvmsg(int(fd), packet, control, 0)
				if err != nil {
					return err != syscall.EAGAIN && err != syscall.EINTR
				}
				link, ok := from.(*syscall.SockaddrLinklayer)
				if !ok || link.Pkttype != syscall.PACKET_OUTGOING {
					continue
				}
				if s, ok := segmentOf(packet[:n], control[:controls]); ok {
					mu.Lock()
					seen = append(seen, s)
					mu.Unlock()
				}
			}
		})
	})
	l.tb.Cleanup(func() {
		_ = socket.Close()
		ended.Wait()
	})
	return func() []Segment {
		mu.Lock()
		defer mu.Unlock()
		return seen[:len(seen):len(seen)]
	}
}

// packets returns a socket that receives all packets of a device in this thread's namespace, each with its time.
func packets(device string) (*os.File, error) {
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, syscall.ETH_P_ALL))
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, int(all))
	if err != nil {
		return nil, err
	}
	socket := os.NewFile(uintptr(fd), "packets")
	end, err := net.InterfaceByName(device)
	for _, step := range []func() error{
		func() error { return err },
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 8<<20) },
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1) },
		func() error {
			return syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: end.Index})
		},
	} {
		if err := step(); err != nil {
			_ = socket.Close()
			return nil, err
		}
	}
	return socket, nil
}

// segmentOf reads a packet of IPv4; ok is false if it is not TCP.
func segmentOf(packet, control []byte) (s Segment, ok bool) {
	if len(packet) < 20 || packet[0]>>4 != 4 || packet[9] != syscall.IPPROTO_TCP {
		return s, false
	}
	head, total := int(packet[0]&15)*4, int(binary.BigEndian.Uint16(packet[2:]))
	if total < head+20 || len(packet) < head+20 {
		return s, false
	}
	tcp := packet[head:]
	s = Segment{
		From: int(binary.BigEndian.Uint16(tcp)), To: int(binary.BigEndian.Uint16(tcp[2:])),
		Opens: tcp[13]&2 != 0, Reset: tcp[13]&4 != 0, Length: total - head - int(tcp[12]>>4)*4,
	}
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return s, false
	}
	for _, m := range messages {
		switch {
		case m.Header.Type != syscall.SO_TIMESTAMPNS:
		case len(m.Data) == 16:
			s.At = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:]))) //nolint:gosec // the kernel's numbers are signed
		case len(m.Data) == 8: // a time of two 32-bit numbers
			s.At = time.Unix(int64(binary.NativeEndian.Uint32(m.Data)), int64(binary.NativeEndian.Uint32(m.Data[4:])))
		}
	}
	return s, !s.At.IsZero()
}
