package faults

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Neither an old version of TLS nor an untrusted certificate gets as far as a request, with its bearer.
// Reports go over connections of their own, so both transports are tried.
func TestTLSIsChecked(t *testing.T) {
	t.Parallel()
	certificates := httptest.NewUnstartedServer(nil)
	certificates.StartTLS()
	t.Cleanup(certificates.Close)
	for name, c := range map[string]struct {
		versions *tls.Config
		noticed  string // by the server
	}{
		"TLS 1.1":                {&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "unsupported versions"},
		"an unknown certificate": {&tls.Config{MinVersion: tls.VersionTLS12}, "certificate"},
	} {
		for _, op := range []harness.Op{harness.OpGet(), harness.OpStart()} {
			t.Run(name+"/"+op.Name, func(t *testing.T) {
				t.Parallel()
				config := c.versions.Clone()
				config.Certificates = certificates.TLS.Certificates
				listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
				require.NoError(t, err)
				t.Cleanup(func() { _ = listener.Close() })
				handshake := make(chan error, 1)
				go func() { handshake <- readOne(listener) }()

				client := harness.Config("https://" + listener.Addr().String())
				client.Retry.MaxAttempts = 1
				require.Error(t, op.Call(t.Context(), harness.NewClient(t, client)))
				require.ErrorContains(t, <-handshake, c.noticed)
			})
		}
	}
}

// readOne waits for the first byte of a connection, or for an error.
func readOne(listener net.Listener) error {
	connection, err := listener.Accept()
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Read(make([]byte, 1))
	return err
}
