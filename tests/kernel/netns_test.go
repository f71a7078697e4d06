//go:build linux

package kernel

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/netns"
)

const dialVariable = "NETNS_TEST_DIAL"

// dialMain sends each line of its input in one write.
func dialMain(address string) int {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return 1
	}
	_, _ = io.Copy(connection, os.Stdin)
	return 0
}

// A cut link lets nothing out, a lossy one loses in one direction only, and unacknowledged data arrives after Heal.
func TestLink(t *testing.T) {
	t.Parallel()
	l := netns.New(t)
	captured := l.Capture()
	listener := l.Listen()
	defer listener.Close()
	client := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	client.Env = append(os.Environ(), dialVariable+"="+listener.Addr().String())
	input, err := client.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, l.Start(client))
	connection, err := listener.Accept()
	require.NoError(t, err)
	defer connection.Close()
	lines := make(chan string, 9)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(connection); in.Scan(); {
			lines <- in.Text()
		}
	}()
	send := func(text string) {
		_, err := io.WriteString(input, text+"\n")
		require.NoError(t, err)
	}
	payloads := func() (n int) {
		for _, s := range captured() {
			if s.Length > 0 {
				n++
				require.WithinDuration(t, time.Now(), s.At, time.Minute)
				require.Equal(t, listener.Addr().(*net.TCPAddr).Port, s.To)
			}
		}
		return n
	}
	send("up")
	require.Equal(t, "up", <-lines)
	require.Eventually(t, func() bool { return payloads() == 1 }, time.Minute, time.Millisecond)

	l.Cut()
	send("cut")
	require.Never(t, func() bool { return len(lines) > 0 }, 100*time.Millisecond, 10*time.Millisecond)
	l.Heal()
	require.Equal(t, "cut", <-lines)

	l.Lose(netns.ToService)
	before := payloads()
	send("lost")
	require.Eventually(t, func() bool { return payloads() >= before+2 }, time.Minute, 10*time.Millisecond, "sent, and sent again")
	require.Empty(t, lines)
	l.Heal()
	require.Equal(t, "lost", <-lines)

	l.Lose(netns.ToClient)
	before = payloads()
	send("not acknowledged")
	require.Equal(t, "not acknowledged", <-lines)
	require.Eventually(t, func() bool { return payloads() >= before+2 }, time.Minute, 10*time.Millisecond, "sent again")
	l.Heal()
	require.NoError(t, input.Close())
	require.NoError(t, client.Wait())
	for range lines { // to its end
	}
}
