package main

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// composed returns the compose file that docs/emulator-image.md describes, checked as Compose does.
func composed(t *testing.T) *types.Project {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "cmd", program, "compose.yaml"))
	require.NoError(t, err)
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: t.TempDir(), ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}},
	}, func(o *loader.Options) { o.SetProjectName("partner", true) })
	require.NoError(t, err)
	return project
}

// client returns the client of a backend in another container: its settings come from the environment, and it finds the emulator
// by a host name.
func client(t *testing.T, c *container, environment types.MappingWithEquals) *prepaid.Client {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, *value)
	}
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	config.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		require.Equal(t, "emulator:8480", address)
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1"+c.listen)
	}}
	made, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Close()) })
	return made
}

// The compose file fits the image: a backend that waits for a healthy emulator reaches it with its environment alone.
func TestComposeFile(t *testing.T) {
	project := composed(t)
	require.Len(t, project.Services, 2)
	emulator, backend := project.Services["emulator"], project.Services["backend"]
	require.Equal(t, types.ServiceConditionHealthy, backend.DependsOn["emulator"].Condition)
	require.Equal(t, program, emulator.Image)
	require.Len(t, emulator.Ports, 1)
	require.Equal(t, "127.0.0.1", emulator.Ports[0].HostIP)
	require.Equal(t, uint32(8480), emulator.Ports[0].Target)
	require.Len(t, emulator.Volumes, 1)

	c := unpack(t)
	require.Equal(t, c.config.Healthcheck.Test, []string(emulator.HealthCheck.Test))
	volume := strings.TrimPrefix(emulator.Volumes[0].Target, "/")
	info, err := os.Stat(filepath.Join(c.root, volume))
	require.NoError(t, err)
	require.True(t, info.IsDir())
	c.start(t, emulator.Command...)
	defer c.stop(t)
	account, err := client(t, c, backend.Environment).Accounts.Get(t.Context(), "EA10000000000001")
	require.NoError(t, err)
	require.Equal(t, prepaid.AccountID("EA10000000000001"), account.ID)
	require.FileExists(t, filepath.Join(c.root, volume, "emulator.state"))

	t.Setenv("PREPAID_INSECURE_HTTP", "")
	_, err = prepaid.ConfigFromEnv()
	require.ErrorContains(t, err, "insecure_http", "http to another host needs the opt-in")
}

// Webhooks reach only receivers with a certificate from an authority of the image.
func TestImageDeliversToTrustedReceivers(t *testing.T) {
	environment := composed(t).Services["backend"].Environment
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	receiver.Config.ErrorLog = log.New(io.Discard, "", 0) // failed handshakes are the test
	receiver.StartTLS()
	defer receiver.Close()
	register := func(c *container) error {
		c.start(t)
		defer c.stop(t)
		_, err := client(t, c, environment).Hooks.Create(t.Context(), prepaid.CreateHookParams{
			URI: receiver.URL + "/hook", Scope: []prepaid.CompanyID{42}, FilterSpec: prepaid.FilterAll, Enabled: true,
			ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable, HMACKeyID: "one", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
		})
		return err
	}
	c := unpack(t)
	require.Error(t, register(c))
	authorities, err := os.OpenFile(filepath.Join(c.root, "etc", "ssl", "certs", "ca-certificates.crt"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	require.NoError(t, pem.Encode(authorities, &pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw}))
	require.NoError(t, authorities.Close())
	require.NoError(t, register(c), "registered, so it responded to a ping")
}
