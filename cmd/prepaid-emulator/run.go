// Command prepaid-emulator runs the emulator of package prepaidtest as a program: the service on loopback, with a page
// at / that shows its state.
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-emulator -h
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/page"
	"github.com/cardprograms/prepaid/prepaidtest"
)

//go:embed demo.json
var demo []byte

// The exit codes.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, release) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// run is the program. It returns the exit code.
func run(ctx context.Context, arguments []string, environment func(string) (string, bool), out, problems io.Writer) int {
	s, err := parse(arguments, environment, out, problems)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case s.Version:
		fmt.Fprintln(out, "prepaid-emulator", version())
		return exitOK
	case s.CheckHealth:
		err = s.health(ctx, &http.Transport{DisableKeepAlives: true})
	case s.OpenAPI:
		_, err = out.Write(prepaidtest.OpenAPI())
	default:
		err = serve(ctx, s, out, problems)
	}
	if err != nil {
		fmt.Fprintln(problems, "prepaid-emulator:", err)
		return exitFault
	}
	return exitOK
}

// serve runs the emulator until ctx ends.
func serve(ctx context.Context, s *settings, out, problems io.Writer) error {
	listener, err := listen(ctx, s.ListenOn)
	if err != nil {
		return err
	}
	server, err := start(s, listener, out, problems)
	if err != nil {
		return err
	}
	<-ctx.Done()
	fmt.Fprintln(out, "stopping")
	if err := server.Close(); err != nil {
		return fmt.Errorf("it did not stop cleanly: %w", err)
	}
	return nil
}

// gate is a listener that accepts no connection until it is opened or closed.
type gate struct {
	net.Listener

	opened chan struct{}
	open   func()
}

func newGate(listener net.Listener) *gate {
	opened := make(chan struct{})
	return &gate{listener, opened, sync.OnceFunc(func() { close(opened) })}
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	<-g.opened
	return g.Listener.Accept()
}

// Close implements net.Listener.
func (g *gate) Close() error {
	err := g.Listener.Close()
	g.open()
	return err
}

// start starts the emulator and prints the greeting. The first request finds the seed, the faults and the page.
func start(s *settings, listener net.Listener, out, problems io.Writer) (*prepaidtest.Server, error) {
	options, err := s.options(problems)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	kept, err := os.Stat(s.StateFile)
	goesOn := err == nil && kept.Size() > 0
	shown, door := page.New(page.Config{AllowRemote: s.AllowRemote, Version: version()}), newGate(listener)
	options.Listener, options.Page = door, shown
	server, err := prepaidtest.Start(options)
	if err != nil {
		return nil, errors.Join(s.named(err), listener.Close())
	}
	if !goesOn {
		if err := s.sow(server); err != nil {
			err = errors.Join(err, server.Close())
			if s.StateFile != "" {
				err = errors.Join(err, os.Remove(s.StateFile)) // otherwise the next start would use this file
			}
			return nil, err
		}
	}
	for _, a := range s.Faults {
		server.Inject(a.operation, a.fault)
	}
	server.InjectDelivery("", s.HookFaults...)
	for _, pair := range s.Keys {
		application, key, _ := strings.Cut(pair, "=")
		server.AddApplication(strings.TrimSpace(application), strings.TrimSpace(key))
	}
	shown.Attach(server)
	door.open()
	s.greet(out, server, goesOn)
	if s.AllowRemote {
		fmt.Fprintln(problems, "prepaid-emulator: WARNING: with -allow-remote anyone who reaches this address can use the emulator, see its page and change its data; the default credentials are public")
	}
	return server, nil
}

// named names the flag of an option that is out of range.
func (s *settings) named(err error) error {
	text := err.Error()
	for _, one := range table() {
		text = strings.ReplaceAll(text, "prepaidtest: "+one.field+":", "-"+one.name+":")
	}
	return errors.New(text)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	const ofWindows = syscall.Errno(10048)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, ofWindows) {
		return nil, fmt.Errorf("the port of %s is in use, perhaps by another emulator; choose another one with -listen", address)
	}
	return listener, err
}

// sow fills a new server from the seed document.
func (s *settings) sow(server *prepaidtest.Server) (err error) {
	text := demo
	if s.Seed != "" {
		text, err = os.ReadFile(s.Seed)
	}
	if err == nil {
		err = server.Load(bytes.NewReader(text))
	}
	if err != nil {
		return fmt.Errorf("-seed: %w", err)
	}
	return nil
}

// options completes the server's options.
func (s *settings) options(problems io.Writer) (prepaidtest.Options, error) {
	options := s.Options
	options.Signature = &s.Signature
	options.PageSizes = prepaidtest.PageSizes{Least: s.PageSizes[0], Normal: s.PageSizes[1], Most: s.PageSizes[2]}
	if s.NoRateLimit {
		options.RateLimit = -1
	}
	options.ReportDelay, options.SimulationDelay = cmp.Or(s.ReportDelay, -1), cmp.Or(s.SimulationDelay, -1) // zero would mean the default
	switch s.Log {
	case "text":
		options.Logger = slog.New(slog.NewTextHandler(problems, nil))
	case "json":
		options.Logger = slog.New(slog.NewJSONHandler(problems, nil))
	}
	if s.HookRoots != "" {
		text, err := os.ReadFile(s.HookRoots)
		if err != nil {
			return options, fmt.Errorf("-hook-roots: %w", err)
		}
		options.WebhookRoots = x509.NewCertPool()
		if !options.WebhookRoots.AppendCertsFromPEM(text) {
			return options, errors.New("-hook-roots: the file has no certificate in PEM form")
		}
	}
	return options, nil
}

// version returns the version of the module if the program was installed from a module.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
