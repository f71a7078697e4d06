package prepaidtest

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ring"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/statefile"
)

// Server is one emulator with its own state. Make it with NewServer in a test or with Start in a program. It is
// safe for concurrent use. Servers share nothing: each parallel test can have one.
type Server struct {
	// URL is the base URL with its path prefix, for example "http://127.0.0.1:40123/3.0/".
	URL string

	settings       settings
	tb             testing.TB // nil when started by a program
	routes         exchange.Table
	rates          *gate.RateLimiter
	activity       *activity.Activity
	service        *service.Service
	faults         *faults.Queue
	deliveryFaults *faults.Queue
	decider        decider
	requests       *ring.Ring[Request]
	logged         atomic.Int64    // requests in the log so far
	file           *statefile.File // nil without Options.StateFile

	network *memoryNetwork // nil without Options.InMemory
	http    *http.Server   // nil until serving

	mu      sync.Mutex     // guards all below
	client  ownClient      // of Client
	allowed []string       // by AllowOnly; empty for all operations
	closing []func() error // functions that Close calls first
}

// NewServer starts an emulator that is closed with the test. It holds company 42, whose client_id is "acme".
func NewServer(t testing.TB, options Options) *Server {
	t.Helper()
	s, err := newServer(t, options)
	if err == nil {
		err = s.listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		s.explain()
	})
	return s
}

// Start starts an emulator for a program, which must close it. Start fails if an option is out of range or the address is not
// available. Wrong use, such as a fault for an unknown operation, cannot fail a test: it is logged to Logger or standard error.
func Start(options Options) (*Server, error) {
	s, err := newServer(nil, options)
	if err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	return s, nil
}

func newServer(tb testing.TB, options Options) (*Server, error) {
	settings, err := newSettings(options)
	if err != nil {
		return nil, err
	}
	s := &Server{
		settings: settings, tb: tb, activity: activity.New(), rates: gate.NewRateLimiter(settings.RateLimit, settings.RateWindow),
		faults:   faults.NewQueue(AnyOperation, settings.service.Seed, 1),
		requests: ring.New(settings.service.Hooks.LogSize, logMemory, Request.weight),
	}
	s.deliveryFaults = faults.NewQueue("", settings.service.Seed, 2)
	settings.service.Activity, settings.service.MessageFaults = s.activity, s.deliveryFaults
	s.service = service.New(settings.service)
	s.routes = s.service.Routes()
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// begin restores the saved state, or else adds the default company.
func (s *Server) begin() error {
	if s.settings.StateFile != "" {
		var err error
		if s.file, err = statefile.Open(s.settings.StateFile, s.service); err != nil {
			return fmt.Errorf("prepaidtest: StateFile: %w", err)
		}
	}
	err := s.beginWith(s.file.Take())
	if err == nil {
		err = s.file.Keep() // reports at once if the file cannot be written
	}
	if err != nil {
		return errors.Join(err, s.file.Close())
	}
	return nil
}

func (s *Server) beginWith(kept []byte) error {
	switch {
	case kept != nil:
		if err := s.service.Restore(kept); err != nil {
			return fmt.Errorf("prepaidtest: StateFile: %w", err)
		}
	case s.settings.State != nil:
		text, err := io.ReadAll(s.settings.State)
		if err == nil {
			err = s.service.Restore(text)
		}
		if err != nil {
			return fmt.Errorf("prepaidtest: State: %w", err)
		}
	default:
		s.AddCompany(Company{ID: DefaultCompany, ClientID: DefaultProgramClientID, ProgramID: "acme-cards"})
	}
	return nil
}

func (s *Server) listen() error {
	listener := s.settings.Listener
	if s.settings.InMemory {
		s.network = &memoryNetwork{make(chan net.Conn), make(chan struct{})}
		listener = s.network
	}
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", s.settings.ListenOn); err != nil {
			return errors.Join(err, s.file.Close())
		}
	}
	s.service.Resume()
	if s.file != nil {
		s.activity.Run(func() {
			s.file.KeepUpToDate(s.activity.Stopping(), func(err error) { s.complain("state file", err.Error()) })
		})
	}
	s.URL = "http://" + listener.Addr().String() + exchange.Prefix + "/"
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	s.activity.Run(func() { _ = s.http.Serve(listener) }) // always returns ErrServerClosed after Close
	return nil
}

// Close stops the server: it cuts open connections, ends waiting deliveries, and returns when nothing runs any more. A
// second Close does nothing.
func (s *Server) Close() error {
	if !s.activity.Close() {
		return nil
	}
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	var problems []error
	for _, do := range closing {
		problems = append(problems, do())
	}
	s.activity.Stop()
	if s.http != nil {
		problems = append(problems, s.http.Close())
	}
	s.service.Clock.Close()
	s.activity.Wait()
	s.service.Hooks.Close()
	problems = append(problems, s.file.Keep(), s.file.Close())
	return errors.Join(problems...)
}

// fail reports wrong use of the package: it fails the test or, in a program, calls complain.
func (s *Server) fail(format string, args ...any) {
	if s.tb != nil {
		s.tb.Helper()
		s.tb.Errorf("prepaidtest: "+format, args...)
		return
	}
	s.complain("wrong use", fmt.Sprintf(format, args...))
}

// complain writes to Options.Logger or, without one, to standard error.
func (s *Server) complain(what, reason string) {
	if s.settings.Logger != nil {
		s.settings.Logger.Error("prepaidtest: "+what, slog.String("reason", reason))
		return
	}
	fmt.Fprintln(os.Stderr, "prepaidtest: "+what+":", reason)
}
