//go:build linux

package kernel

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/bank"
	"github.com/cardprograms/prepaid/internal/tests/netns"
)

// proxyAddress is where a proxy listens.
const proxyAddress = netns.ServiceAddress + ":8080"

// proxy is a program between the client and the service. Its settings are those of production: time-outs longer than the client's, no
// health checks, kept connections to the service. Only the files and the number of processes differ.
type proxy struct {
	name      string
	transport connections
	forward   bool // the client uses it as its proxy, and opens a tunnel; else it is in the place of the service
	command   []string
	config    string // {address}: of the service; {listen}: proxyAddress; {files}: a directory
}

// squidProcess lets squid run without files and an ICMP helper.
const squidProcess = `
pid_filename none
access_log none
cache_log /dev/null
pinger_enable off
visible_hostname proxy
http_access allow all
`

var proxies = []proxy{
	{"nginx", kept, false, []string{"nginx", "-p", "{files}", "-e", "stderr", "-c"}, `
daemon off;
master_process off;
pid {files}/pid;
events {}
http {
	access_log off;
	client_body_temp_path {files}/body;
	proxy_temp_path {files}/proxy;
	fastcgi_temp_path {files}/fastcgi;
	uwsgi_temp_path {files}/uwsgi;
	scgi_temp_path {files}/scgi;
	upstream service {
		server {address};
		keepalive 32;
	}
	server {
		listen {listen};
		location / {
			proxy_pass http://service;
			# Without these two, nginx closes each connection to the service.
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
}
`},
	{"haproxy", kept, false, []string{"haproxy", "-db", "-f"}, `
defaults
	mode http
	timeout connect 5s
	timeout client 50s
	timeout server 50s
listen service
	bind {listen}
	server service {address}
`},
	{"squid", kept, false, []string{"squid", "-N", "-d", "1", "-f"}, squidProcess + `
http_port {listen} accel defaultsite=service no-vhost
cache_peer {host} parent {port} 0 no-query originserver
cache deny all
`},
	{"squid with CONNECT", tlsKept, true, []string{"squid", "-N", "-d", "1", "-f"}, squidProcess + `
http_port {listen}
`},
	{"CONNECT", tlsKept, true, []string{os.Args[0]}, proxyAddress}, // tunnelMain
}

// start starts the proxy at the client's end of the link to the service. The proxy ends with the test, or with its process.
func (x proxy) start(t *testing.T, back *netns.Link, service *url.URL) {
	t.Helper()
	netns.Need(t, x.command[0])
	files := t.TempDir()
	fill := strings.NewReplacer("{files}", files, "{listen}", proxyAddress, "{address}", service.Host, "{host}", service.Hostname(),
		"{port}", service.Port()).Replace
	config := filepath.Join(files, "config")
	require.NoError(t, os.WriteFile(config, []byte(fill(x.config)), 0o600))
	command := exec.Command("sh", "-c", `mount -t tmpfs shm /dev/shm && { "$@" & cat; kill -9 $!; wait; }`, "sh")
	for _, argument := range x.command {
		command.Args = append(command.Args, fill(argument))
	}
	command.Args = append(command.Args, config)
	command.Env = append(os.Environ(), tunnelVariable+"="+proxyAddress)
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS} // squid always has the same files in /dev/shm
	input, err := command.StdinPipe()
	require.NoError(t, err)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	require.NoError(t, back.Start(command))
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s: %s", x.name, &printed)
		}
	})
}

// One of the two hops of a proxy is away. The kernel of a proxy that has given up sends the request that it holds, at growing
// intervals, also after the client's connection has been reset: the request arrives long after the hop has returned.
func TestCutBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, x := range proxies {
		for _, hop := range []string{"client to proxy", "proxy to service"} {
			t.Run(x.name+", "+hop, func(t *testing.T) {
				t.Parallel()
				for range 5 {
					if x.tested(t, hop == "proxy to service") {
						return
					}
				}
				t.Fatal("paid twice, but the machine is too slow to tell")
			})
		}
	}
}

// tested reports false if a payment was made twice on a machine that was too slow for it: the service needed longer than it may.
func (x proxy) tested(t *testing.T, behind bool) bool {
	t.Helper()
	const all = 20
	// Half of the payments are those of a busy client, half of them have an idle client each.
	// The kernel sends again when the request is 0.2, 0.4, 0.8, 1.6, 3.2 and 6.4 s old; with the default times, also 12.8, 25.6, 51.2 s.
	set := setup{Transport: x.transport, Attempt: 2 * time.Second, InFlight: 3 * time.Second, Payments: all, Alone: all / 2, Readers: 4}
	away, patience := 5*time.Second, 2*time.Minute
	if *defaults {
		set.Attempt, set.InFlight, away, patience = 30*time.Second, 10*time.Second, 46*time.Second, 15*time.Minute
	}
	set.Spread = set.InFlight + away
	setups <- struct{}{}
	release := sync.OnceFunc(func() { <-setups })
	defer release()
	front, back := netns.Through(t)
	b := bank.Serve(t, back.Listen(), bank.Options{TLS: x.transport == tlsKept, Takes: func(id string, _ int) time.Duration {
		if id[0] == 'w' {
			return 50 * time.Millisecond
		}
		return set.InFlight/2 + rand.N(set.InFlight*45/100)
	}})
	service, err := url.Parse(b.URL)
	require.NoError(t, err)
	x.start(t, back, service)
	set.URL, set.Certificate = b.URL, b.Certificate
	if x.forward {
		set.Proxy = proxyAddress
	} else {
		set.URL = strings.Replace(b.URL, service.Host, proxyAddress, 1)
	}
	p := start(t, front, set)
	defer p.kill()
	p.await(ready, 1)
	release()

	warm, late := b.Count(), lateness(t)
	p.command(commandPay)
	time.Sleep(set.InFlight)
	cut := front
	if behind {
		cut = back
	}
	cut.Cut()
	time.Sleep(away)
	cut.Heal()
	require.True(t, p.has(paid, all, patience), "%d of %d paid", p.count(paid), all)
	time.Sleep(set.InFlight) // the service carries out a request that arrived during its repeat
	count, slow := b.Count(), late()
	t.Logf("%d requests read, %d paid twice: %v; sleeps were up to %v late", count.Requests-warm.Requests, len(count.Twice), count.Twice, slow)
	require.Equal(t, all, count.Paid-warm.Paid)
	if len(count.Twice) > 0 && slow > set.InFlight/20 {
		return false
	}
	require.Empty(t, count.Twice, "paid twice")
	return true
}

// lateness returns a function that returns how late sleeps have ended so far.
func lateness(t *testing.T) func() time.Duration {
	t.Helper()
	var worst atomic.Int64
	go func() {
		for t.Context().Err() == nil {
			began := time.Now()
			time.Sleep(10 * time.Millisecond)
			worst.Store(max(worst.Load(), int64(time.Since(began)-10*time.Millisecond)))
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}
