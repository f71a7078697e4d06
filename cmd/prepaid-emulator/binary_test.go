//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program itself: it starts, answers, stops by each signal and returns 0.
func TestSignalsEndTheProgram(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "prepaid-emulator")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		command := exec.CommandContext(t.Context(), binary, "-log", "off")
		command.Env = append(os.Environ(), "PREPAID_EMULATOR_LISTEN=127.0.0.1:0")
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		lines := bufio.NewScanner(out)
		var greeting strings.Builder
		for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl+C") {
			greeting.WriteString(lines.Text() + "\n")
		}
		address := regexp.MustCompile(`Page +(http://\S+)`).FindStringSubmatch(greeting.String())
		require.Len(t, address, 2, greeting.String())
		p := &program{t: t, page: address[1], http: newHTTPClient()}
		require.Equal(t, 200, p.call("GET", "accounts/"+ada, "").status)
		require.NoError(t, command.Process.Signal(signal))
		for lines.Scan() {
			greeting.WriteString(lines.Text() + "\n")
		}
		require.NoError(t, command.Wait(), "exit code 0")
		require.Contains(t, greeting.String(), "stopping")
	}
}
