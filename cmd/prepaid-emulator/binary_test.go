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

// The program starts, responds, stops on each signal and returns 0.
func TestSignalsEndTheProgram(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p, command, lines := begin(t)
		require.Equal(t, 200, p.call("GET", "accounts/"+ada, "").status)
		require.Contains(t, p.get("/").body, "<h1>Overview</h1>")
		health := func() ([]byte, error) {
			return process(t, "-health", "-listen", strings.Trim(strings.TrimPrefix(p.page, "http://"), "/")).CombinedOutput()
		}
		printed, err := health()
		require.NoError(t, err, string(printed))
		require.Empty(t, printed)
		require.NoError(t, command.Process.Signal(signal))
		var rest strings.Builder
		for lines.Scan() {
			rest.WriteString(lines.Text() + "\n")
		}
		require.NoError(t, command.Wait(), "exit code 0")
		require.Contains(t, rest.String(), "stopping")
		printed, err = health()
		require.ErrorContains(t, err, "exit status 1", string(printed))
	}
}

// process is a run of main in a process.
func process(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), self, arguments...)
	command.Env = append(os.Environ(), "EMULATOR_TEST_MAIN=1")
	return command
}

// begin starts the program on a free port and waits for its greeting.
func begin(t *testing.T, arguments ...string) (*program, *exec.Cmd, *bufio.Scanner) {
	t.Helper()
	command := process(t, append([]string{"-log", "off"}, arguments...)...)
	command.Env = append(command.Env, "PREPAID_EMULATOR_LISTEN=127.0.0.1:0")
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
	return &program{t: t, page: address[1], http: newHTTPClient()}, command, lines
}

// Token, balances and responses of transfers survive a stop. After a kill they are as they were a second
// before.
func TestStateSurvivesStopAndKill(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "emulator.state")
	const transfer = `{"request_id":"r-1","amount":1.25,"source_reference":"s","destination_reference":"d",
		"destination_account_id":"EA10000000000002","transaction_type":1}`
	p, command, _ := begin(t, "-state", file)
	before := p.call("POST", "accounts/"+ada+"/transfer", transfer)
	require.Equal(t, 200, before.status, before.body)
	balance := p.call("GET", "accounts/"+ada+"/status", "").body
	token := p.token
	stop := func() {
		require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		require.NoError(t, command.Wait())
	}
	kill := func() {
		require.NoError(t, command.Process.Kill())
		require.Error(t, command.Wait())
	}
	for _, end := range []func(){stop, kill, stop} {
		end()
		p, command, _ = begin(t, "-state", file)
		p.token = token
		require.Equal(t, before.body, p.call("POST", "accounts/"+ada+"/transfer", transfer).body)
		require.Equal(t, balance, p.call("GET", "accounts/"+ada+"/status", "").body)
	}
	second := process(t, "-listen", "127.0.0.1:0", "-state", file)
	said, err := second.CombinedOutput()
	require.Error(t, err, "two programs on one file")
	require.Contains(t, string(said), "another")
	stop()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestFaultySeedLeavesNoState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed, file := filepath.Join(dir, "seed.json"), filepath.Join(dir, "emulator.state")
	require.NoError(t, os.WriteFile(seed, []byte(`{"accounts":[{"status":"asleep"}]}`), 0o600))
	code, _, problems := once(t, nil, "-listen", "127.0.0.1:0", "-seed", seed, "-state", file)
	require.Equal(t, 1, code)
	require.Contains(t, problems, "accounts[0].status")
	require.NoFileExists(t, file)
}
