package main

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// process is a program as a container runs it: with the image's settings and only its file system, as user 65532 or another. It
// listens on an address such as ":41234".
func process(ctx context.Context, image unpackedImage, listen string, user uint32, argv ...string) *exec.Cmd {
	c := imageConfig("")
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Path, command.Err, command.Dir = argv[0], nil, c.WorkingDir
	command.Env = slices.Concat(c.Env, []string{"PREPAID_EMULATOR_LISTEN=" + listen}) // as "docker run -e"
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: image.root, Credential: &syscall.Credential{Uid: user, Gid: user}, Pdeathsig: syscall.SIGKILL}
	return command
}

// serve runs the emulator while use does something with it, and ends it like "docker stop". It returns the greeting.
func serve(t *testing.T, command *exec.Cmd, use func()) string {
	t.Helper()
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	printed := bufio.NewScanner(out)
	var greeting strings.Builder
	for !strings.Contains(greeting.String(), "Ctrl+C") && printed.Scan() {
		greeting.WriteString(printed.Text() + "\n")
	}
	use()
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	for printed.Scan() { // to the end
	}
	require.NoError(t, command.Wait(), "exit status 0")
	return greeting.String()
}

// client returns the client of a backend in another container: its settings come from the environment, and it finds the emulator
// by a host name.
func client(t *testing.T, listen string, environment types.MappingWithEquals) *prepaid.Client {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, *value)
	}
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	config.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		require.Equal(t, "emulator:8480", address)
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1"+listen)
	}}
	made, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Close()) })
	return made
}

// The compose file that docs/emulator-image.md describes fits the image, for each user: a backend that waits for a healthy
// emulator reaches it with its environment alone. The emulator is healthy exactly while it serves, and keeps its state.
func TestCompose(t *testing.T) {
	if os.Geteuid() != 0 {
		require.NotEqual(t, "1", os.Getenv("PREPAID_REQUIRE_TOOLS"), "only root can run a program in another file system")
		t.Skip("NOT CHECKED: only root can run a program in another file system")
	}
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{WorkingDir: t.TempDir(), ConfigFiles: []types.ConfigFile{
		{Filename: "compose.yaml", Content: read(t, repository, "cmd", program, "compose.yaml")},
	}}, func(o *loader.Options) { o.SetProjectName("partner", true) })
	require.NoError(t, err)
	emulator, backend := project.Services["emulator"], project.Services["backend"]
	require.Equal(t, types.ServiceConditionHealthy, backend.DependsOn["emulator"].Condition)
	require.Equal(t, program, emulator.Image)
	require.Len(t, emulator.Ports, 1)
	require.Equal(t, "127.0.0.1", emulator.Ports[0].HostIP)
	require.Equal(t, uint32(8480), emulator.Ports[0].Target)
	health := imageConfig("").Healthcheck.Test
	require.Equal(t, health, []string(emulator.HealthCheck.Test))
	require.Equal(t, "65532:65532", imageConfig("").User)

	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := ":" + strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	require.NoError(t, free.Close())
	for _, user := range []uint32{65532, 1000} { // the image's user, and another of "docker run --user"
		image := native(t)
		require.NoError(t, os.Chmod(image.root, 0o755))
		healthy := func() error { return process(t.Context(), image, listen, user, health[1:]...).Run() }
		require.ErrorContains(t, healthy(), "exit status 1")
		command := process(t.Context(), image, listen, user, append(imageConfig("").Entrypoint, emulator.Command...)...)
		greeting := serve(t, command, func() {
			require.NoError(t, healthy())
			account, err := client(t, listen, backend.Environment).Accounts.Get(t.Context(), "EA10000000000001")
			require.NoError(t, err)
			require.Equal(t, prepaid.AccountID("EA10000000000001"), account.ID)
		})
		require.Contains(t, greeting, "export PREPAID_BASE_URL='http://127.0.0.1"+listen+"/3.0/'")
		require.ErrorContains(t, healthy(), "exit status 1")
		require.FileExists(t, filepath.Join(image.root, emulator.Volumes[0].Target, "emulator.state"))
	}
}
