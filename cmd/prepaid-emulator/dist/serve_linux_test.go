package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"
)

// container is the program of the image as a container runs it: with the image's settings and only its file system, without the
// rights of root. If the machine allows that, the program has process ID 1 in its own namespace.
type container struct {
	root     string
	config   v1.Config
	listen   string // ":41234"
	command  *exec.Cmd
	printed  *bufio.Scanner
	problems bytes.Buffer
}

// unpack writes the image for this machine's processor to a directory.
func unpack(t *testing.T) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("PREPAID_REQUIRE_TOOLS") == "1" {
			t.Fatal("only root can run a program in another file system, and PREPAID_REQUIRE_TOOLS=1 asks for it")
		}
		t.Skip("NOT CHECKED: only root can run a program in another file system")
	}
	m := release(t)
	c := &container{root: t.TempDir()}
	require.NoError(t, os.Chmod(c.root, 0o755))
	for name, e := range imageFor(t, m, target{"linux", runtime.GOARCH}) {
		to := filepath.Join(c.root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		if e.mode.IsDir() {
			require.NoError(t, os.MkdirAll(to, 0o755))
		} else {
			require.NoError(t, os.WriteFile(to, e.content, e.mode))
		}
		require.NoError(t, os.Chmod(to, e.mode))
	}
	c.config = imageConfig()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.listen = ":" + strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	require.NoError(t, free.Close())
	return c
}

// process is the program with the image's settings, as "docker run" and the health check start it.
func (c *container) process(ctx context.Context, argv ...string) *exec.Cmd {
	user, group, _ := strings.Cut(c.config.User, ":")
	uid, _ := strconv.Atoi(user)
	gid, _ := strconv.Atoi(group)
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Path, command.Err, command.Dir = argv[0], nil, c.config.WorkingDir
	command.Env = append(slices.Clone(c.config.Env), "PREPAID_EMULATOR_LISTEN="+c.listen) // as "docker run -e"
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot: c.root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Cloneflags: ownProcessIDs(), Pdeathsig: syscall.SIGKILL, //nolint:gosec // of the Dockerfile
	}
	return command
}

// ownProcessIDs returns 0 if the machine forbids a namespace, as a CI container does.
func ownProcessIDs() uintptr {
	try := exec.Command("true")
	try.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if errors.Is(try.Run(), syscall.EPERM) {
		return 0
	}
	return syscall.CLONE_NEWPID
}

// start starts the image and returns its greeting.
func (c *container) start(t *testing.T, arguments ...string) string {
	t.Helper()
	c.command = c.process(t.Context(), append(c.config.Entrypoint, arguments...)...)
	c.command.Stderr = &c.problems
	out, err := c.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.command.Start())
	c.printed = bufio.NewScanner(out)
	var greeting strings.Builder
	for c.printed.Scan() {
		greeting.WriteString(c.printed.Text() + "\n")
		if strings.Contains(c.printed.Text(), "Ctrl+C") {
			return greeting.String()
		}
	}
	t.Fatalf("it ended: %v\n%s%s", c.command.Wait(), &greeting, &c.problems)
	return ""
}

// stop acts as "docker stop" does.
func (c *container) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.command.Process.Signal(syscall.SIGTERM))
	for c.printed.Scan() { // to the end
	}
	require.NoError(t, c.command.Wait(), "exit status 0")
}

// health runs the image's health check.
func (c *container) health(t *testing.T) ([]byte, error) {
	t.Helper()
	require.Equal(t, "CMD", c.config.Healthcheck.Test[0])
	return c.process(t.Context(), c.config.Healthcheck.Test[1:]...).CombinedOutput()
}

// The image serves the quickstart, is healthy exactly while it serves, keeps its state in /state, and stops with 0.
func TestImageServesTheQuickstart(t *testing.T) {
	t.Parallel()
	quickstart := filepath.Join(t.TempDir(), "quickstart")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", quickstart, "./examples/quickstart")
	build.Dir = repository
	printed, err := build.CombinedOutput()
	require.NoError(t, err, string(printed))

	c := unpack(t)
	printed, err = c.health(t)
	require.ErrorContains(t, err, "exit status 1")
	require.Contains(t, string(printed), "no response")
	greeting := c.start(t, "-state", "/state/emulator.state")
	printed, err = c.health(t)
	require.NoError(t, err, string(printed))
	require.Empty(t, printed)

	require.Contains(t, string(get(t, "http://127.0.0.1"+c.listen+"/pin-certificate.pem")), "BEGIN CERTIFICATE")
	run := exec.CommandContext(t.Context(), quickstart, "-pause", "500ms")
	run.Env = []string{"PREPAID_REPORT_TEMPLATE=daily_settlement"}
	for _, export := range regexp.MustCompile(`(?m)^  export (\w+)='(.*)'$`).FindAllStringSubmatch(greeting, -1) {
		run.Env = append(run.Env, export[1]+"="+export[2])
	}
	require.Contains(t, run.Env, "PREPAID_BASE_URL=http://127.0.0.1"+c.listen+"/3.0/")
	printed, err = run.CombinedOutput()
	require.NoError(t, err, string(printed))
	for _, line := range []string{"10. ", "adds up", "rows read", "All done."} {
		require.Contains(t, string(printed), line)
	}
	for _, line := range []string{"failed", "PREPAID_"} {
		require.NotContains(t, string(printed), line)
	}
	c.stop(t)
	require.Contains(t, c.problems.String(), "WARNING: with -allow-remote anyone who reaches this address can use the emulator")
	_, err = c.health(t)
	require.ErrorContains(t, err, "exit status 1")

	info, err := os.Stat(filepath.Join(c.root, "state", "emulator.state"))
	require.NoError(t, err)
	require.Positive(t, info.Size())
	require.Equal(t, uint32(65532), info.Sys().(*syscall.Stat_t).Uid)
}

// "docker run --user" takes any user, even with a state.
func TestImageRunsAsAnyUser(t *testing.T) {
	t.Parallel()
	c := unpack(t)
	c.config.User = "1000:1000"
	c.start(t, "-state", "/state/emulator.state")
	printed, err := c.health(t)
	require.NoError(t, err, string(printed))
	c.stop(t)
	require.FileExists(t, filepath.Join(c.root, "state", "emulator.state"))
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	require.NoError(t, err)
	return body.Bytes()
}
