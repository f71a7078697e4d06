package main

import (
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
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/page"
	"github.com/cardprograms/prepaid/prepaidtest"
)

//go:embed demo.json
var demo string

// The exit codes.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

// run is the program. It returns the exit code.
func run(ctx context.Context, arguments []string, environment func(string) (string, bool), out, problems io.Writer) int {
	s, err := parse(arguments, environment, out, problems)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case s.version:
		fmt.Fprintln(out, "prepaid-emulator", version())
		return exitOK
	case s.checkHealth:
		err = s.health(ctx, &http.Transport{DisableKeepAlives: true})
	case s.openapi:
		err = describe(out)
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
	server, err := start(ctx, s, out, problems)
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

// start starts the emulator and prints the greeting.
func start(ctx context.Context, s *settings, out, problems io.Writer) (*prepaidtest.Server, error) {
	options, err := s.options(problems)
	if err != nil {
		return nil, err
	}
	goesOn := hasState(s.StateFile)
	listener, err := listen(ctx, s.ListenOn)
	if err != nil {
		return nil, err
	}
	shown := page.New(page.Config{AllowRemote: s.allowRemote, Version: version()})
	options.Listener, options.Page = listener, shown
	server, err := prepaidtest.Start(options)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
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
	for _, a := range s.faults {
		server.Inject(a.operation, a.fault)
	}
	server.InjectDelivery("", s.hookFaults...)
	for _, k := range s.keys {
		server.AddApplication(k.application, k.key)
	}
	shown.Attach(server)
	s.greet(out, server, goesOn)
	if s.allowRemote {
		fmt.Fprintln(problems, "prepaid-emulator: WARNING: with -allow-remote anyone who reaches this address can use the emulator, see its page and change its data; the default credentials are public")
	}
	return server, nil
}

// describe prints the OpenAPI document.
func describe(out io.Writer) error {
	_, err := out.Write(prepaidtest.OpenAPI())
	return err
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	const ofWindows = syscall.Errno(10048)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, ofWindows) {
		return nil, fmt.Errorf("the port of %s is in use, perhaps by another emulator; choose another one with -listen", address)
	}
	return listener, err
}

// hasState reports whether a state file has a state to continue from.
func hasState(path string) bool {
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// sow fills a new server from the seed document.
func (s *settings) sow(server *prepaidtest.Server) error {
	var from io.Reader = strings.NewReader(demo)
	if s.seed != "" {
		file, err := os.Open(s.seed)
		if err != nil {
			return fmt.Errorf("-seed: %w", err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	if err := server.Load(from); err != nil {
		return fmt.Errorf("-seed: %w", err)
	}
	return nil
}

// options completes the server's options.
func (s *settings) options(problems io.Writer) (prepaidtest.Options, error) {
	options := s.Options
	if s.noRateLimit {
		options.RateLimit = -1
	}
	for _, delay := range []*time.Duration{&options.ReportDelay, &options.SimulationDelay} {
		if *delay == 0 {
			*delay = -1 // means no delay; zero would mean the default
		}
	}
	switch s.log {
	case "text":
		options.Logger = slog.New(slog.NewTextHandler(problems, nil))
	case "json":
		options.Logger = slog.New(slog.NewJSONHandler(problems, nil))
	}
	if s.hookRoots != "" {
		text, err := os.ReadFile(s.hookRoots)
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
