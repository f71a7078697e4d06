package interop

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/tests/built"
	"github.com/cardprograms/prepaid/transport"
)

// nginxConfig responds to each read by itself. {http2}: a word of listen; {setting}: a directive.
const nginxConfig = `
daemon off;
master_process off;
pid pid;
events { worker_connections 4096; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	server {
		listen unix:{socket} ssl {http2};
		ssl_certificate certificate;
		ssl_certificate_key key;
		{setting}
		location / {
			default_type {type};
			return 200 '{account}';
		}
	}
}
`

// startNginx starts nginx on a Unix socket until the end of the test, and returns a dialer of this socket.
func startNginx(t *testing.T, http2 bool, setting string) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	built.NeedTool(t, "nginx")
	files, err := os.MkdirTemp("", "nginx") //nolint:usetesting // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(files)) })
	certificates := httptest.NewTLSServer(http.NotFoundHandler())
	certificates.Close()
	pair := certificates.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	protocol := ""
	if http2 {
		protocol = "http2"
	}
	socket := filepath.Join(files, "socket")
	for name, content := range map[string][]byte{
		"certificate": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		"key":         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"config": []byte(strings.NewReplacer("{socket}", socket, "{http2}", protocol, "{setting}", setting, "{type}", harness.VendorJSON,
			"{account}", harness.AccountJSON).Replace(nginxConfig)),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(files, name), content, 0o600))
	}
	command := exec.CommandContext(t.Context(), "nginx", "-p", files, "-e", "stderr", "-c", "config")
	var printed bytes.Buffer
	command.Stderr = &printed
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() }) // after the end of the test's context
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	require.Eventually(t, func() bool {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, &printed)
	return dial
}

// Behind nginx no read fails, even without retries, whenever nginx closes connections. net/http alone repeats such reads too.
func TestKeepAliveOfNginx(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{true, false} {
		for _, setting := range []string{"", "keepalive_timeout 0;", "keepalive_requests 1;", "keepalive_requests 5;"} {
			t.Run(fmt.Sprintf("HTTP2 %t, %s", http2, setting), func(t *testing.T) {
				t.Parallel()
				dial := startNginx(t, http2, setting)
				connections := func() *http.Transport {
					base := transport.New()
					base.DialContext, base.TLSClientConfig = dial, &tls.Config{InsecureSkipVerify: true}
					t.Cleanup(base.CloseIdleConnections)
					return base
				}
				plain := http.Client{Transport: connections()}
				alone := failures(t, func() error {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://nginx/3.0/accounts/acc-1", http.NoBody)
					require.NoError(t, err)
					response, err := plain.Do(request)
					if err != nil {
						return err
					}
					defer response.Body.Close()
					_, err = io.Copy(io.Discard, response.Body)
					return err
				})
				config := harness.Config("https://nginx")
				config.AttemptTimeout, config.Transport, config.Retry.MaxAttempts = time.Minute, connections(), 1
				client := harness.NewClient(t, config)
				ours := failures(t, func() error { return harness.OpGet().Call(t.Context(), client) })
				t.Logf("net/http alone lost %d reads, the client %d", alone, ours)
				require.Zero(t, ours)
			})
		}
	}
}

// failures returns how many of 500 reads fail, 16 at a time.
func failures(t *testing.T, read func() error) int64 {
	t.Helper()
	var count, failed atomic.Int64
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for count.Add(1) <= 500 {
				if err := read(); err != nil && failed.Add(1) == 1 {
					t.Log(err)
				}
			}
		})
	}
	workers.Wait()
	return failed.Load()
}
