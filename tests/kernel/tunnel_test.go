//go:build linux

package kernel

import (
	"io"
	"net"
	"net/http"
)

const tunnelVariable = "NETNS_TEST_TUNNEL"

// tunnelMain is a forward proxy that only knows CONNECT. As soon as one end of a tunnel is gone, it closes the other as usual: the kernel
// goes on sending to the other end.
func tunnelMain(address string) int {
	_ = http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // for one test
		service, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer service.Close()
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(service, client)
			_, _ = client.Close(), service.Close()
		}()
		_, _ = io.Copy(client, service)
		_ = client.Close() // ends the other direction too
	}))
	return 1
}
