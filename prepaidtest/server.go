package prepaidtest

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Server is one emulator with its own state. Make it with NewServer in a test or with Start in a program. It is
// safe for concurrent use, and servers share nothing, so that parallel tests can each have one.
type Server struct {
	// URL is the base URL with its path prefix, for example "http://127.0.0.1:40123/3.0/".
	URL string

	settings settings
	routes   []*route
	clock    *clock
	ids      *identifiers
	rates    *rateLimiter
	faults   *armoury[Fault]
	mishaps  *armoury[DeliveryFault]
	requests *ring[Request]
	pages    buffers

	tb       testing.TB // nil when started by a program
	http     *http.Server
	front    *frontDoor     // nil until serving
	stopping chan struct{}  // closed by Close
	work     sync.WaitGroup // handlers, deliveries and the accept loop
	pinKey   func() (*pinIdentity, error)
	file     *stateFile // nil without WithStateFile
	sender   *http.Client
	sending  chan struct{} // slots for deliveries on their way
	answered atomic.Int64  // requests in the log so far
	cached   atomic.Int64  // responses of transfers put in the cache so far

	mu         stateLock // guards all below
	allowed    []string  // by AllowOnly; nil for every operation
	closed     bool
	closing    []func() error
	companies  map[int64]*company
	accounts   map[string]*account
	order      []*account // all accounts, oldest first
	byKey      map[accountKey][]*account
	tokens     map[string]time.Time // expiry of each access token
	transfers  map[transferKey]cachedTransfer
	transferQ  []transferKey // keys of transfers, oldest first
	movements  map[transferKey]int
	approvals  map[string]*authorisation
	redeemed   map[int64]*redemption
	policyIDs  int64
	templates  map[string]template
	runs       map[string]*reportRun
	lastRun    map[string]*reportRun
	dipKeys    map[dipKey]bool
	dipUsed    map[[32]byte]bool
	pinChanges map[string]*pinChange
	pin        *pinIdentity // nil until first needed
	hooks      map[string]*hook
	hookOrder  []*hook
	deliveries *ring[Delivery]
	pending    int // messages queued or on their way, and requests that run on
	idle       []chan struct{}
}

// NewServer starts an emulator that is closed with the test. It holds company 42, whose client_id is "acme".
func NewServer(t testing.TB, options ...Option) *Server {
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

// Start starts an emulator for a program. Close it at the end. It fails when an option is out of its range or
// the address cannot be listened on.
func Start(options ...Option) (*Server, error) {
	s, err := newServer(nil, options)
	if err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	return s, nil
}

func newServer(tb testing.TB, options []Option) (*Server, error) {
	settings, err := newSettings(options)
	if err != nil {
		return nil, err
	}
	s := &Server{
		settings: settings, tb: tb, routes: routes(),
		ids:      newIdentifiers(settings.seed),
		rates:    newRateLimiter(settings.rateLimit, settings.rateSpan),
		faults:   newArmoury(AnyOperation, settings.seed, 1, func(f Fault) schedule { return f.schedule }),
		mishaps:  newArmoury("", settings.seed, 2, func(f DeliveryFault) schedule { return f.schedule }),
		requests: newRing[Request](settings.requestLog), deliveries: newRing[Delivery](settings.requestLog),
		stopping: make(chan struct{}), sending: make(chan struct{}, 8), sender: newSender(settings.webhooks),
		companies: make(map[int64]*company), accounts: make(map[string]*account), byKey: make(map[accountKey][]*account),
		tokens: make(map[string]time.Time), transfers: make(map[transferKey]cachedTransfer), movements: make(map[transferKey]int),
		approvals: make(map[string]*authorisation), redeemed: make(map[int64]*redemption),
		templates: make(map[string]template), runs: make(map[string]*reportRun), lastRun: make(map[string]*reportRun),
		dipKeys: make(map[dipKey]bool), dipUsed: make(map[[32]byte]bool), pinChanges: make(map[string]*pinChange),
		hooks: make(map[string]*hook),
	}
	s.clock = newClock(settings.start, settings.frozen, s.perform)
	s.pinKey = sync.OnceValues(s.makePINIdentity)
	s.templates[DailySettlement] = template{}
	if err := s.begin(); err != nil {
		return nil, err
	}
	return s, nil
}

// begin puts in place what was saved, or else the default company.
func (s *Server) begin() error {
	if s.settings.stateFile != "" {
		var err error
		if s.file, err = openStateFile(s.settings.stateFile); err != nil {
			return fmt.Errorf("prepaidtest: WithStateFile: %w", err)
		}
	}
	err := s.beginWith(s.file.take())
	if err == nil {
		err = s.keep() // shows at once whether the file can be written
	}
	if err != nil {
		return errors.Join(err, s.file.close())
	}
	return nil
}

func (s *Server) beginWith(kept []byte) error {
	switch {
	case kept != nil:
		if err := s.restore(kept); err != nil {
			return fmt.Errorf("prepaidtest: WithStateFile: %w", err)
		}
	case s.settings.state != nil:
		text, err := io.ReadAll(s.settings.state)
		if err == nil {
			err = s.restore(text)
		}
		if err != nil {
			return fmt.Errorf("prepaidtest: WithState: %w", err)
		}
	default:
		s.AddCompany(Company{ID: DefaultCompany, ClientID: DefaultProgramClientID, ProgramID: "acme-cards"})
	}
	return nil
}

func (s *Server) listen() error {
	listener := s.settings.listener
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", s.settings.address); err != nil {
			return errors.Join(err, s.file.close())
		}
	}
	s.resume()
	s.URL = "http://" + listener.Addr().String() + prefix + "/"
	s.front = newFrontDoor(listener)
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	s.work.Go(func() { _ = s.http.Serve(s.front) }) // always returns ErrServerClosed after Close
	s.work.Go(s.front.accept)
	return nil
}

// Close stops the server: it cuts open connections, ends waiting deliveries and returns when all is quiet.
// Closing twice does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	closing := s.closing
	s.mu.Unlock()

	var faults []error
	for _, do := range closing {
		faults = append(faults, do())
	}
	close(s.stopping)
	if s.http != nil {
		faults = append(faults, s.http.Close())
		s.front.stop()
	}
	s.clock.close()
	s.work.Wait()
	s.sender.CloseIdleConnections()
	faults = append(faults, s.keep(), s.file.close())
	return errors.Join(faults...)
}

// enter counts a handler in; false after Close.
func (s *Server) enter() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}

// ServeHTTP answers one request. The server does this on its own address; the method is there to mount the
// emulator elsewhere. Paths must keep the prefix /3.0/. A body of more than 4 MiB is answered with 413 and, on the
// server's own address, one that takes longer than a minute with 408.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	defer s.work.Done()
	limited := s.limitBody(w, r)
	if s.settings.pages != nil && !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.settings.pages.ServeHTTP(w, r)
		return
	}
	began := time.Now()
	s.clock.settle()
	c := &call{server: s, request: r, at: s.clock.now()}
	if !s.readBody(w, c, limited) {
		return
	}
	c.cached = s.cached.Load()
	answer, fault := s.answer(c)
	answer.at = s.clock.now()
	fault.disguise(&answer)
	switch { // in the log before the caller can look, but for the answers that are made while they are sent
	case fault.takesOver():
		s.record(c, answer, fault, time.Since(began))
		s.spoil(w, answer, fault)
	case answer.stream == nil:
		s.record(c, answer, fault, time.Since(began))
		s.write(fault.slow(s, w, r), r, answer)
	default:
		sent := s.writeStream(fault.slow(s, w, r), c, answer)
		s.record(c, sent, fault, time.Since(began))
	}
	if answer.pooled {
		s.pages.put(answer.body)
	}
}

// answer decides what a request gets, in the order of a gateway: address, size, what the test expects, rate, path,
// token, armed fault, operation.
func (s *Server) answer(c *call) (reply, *Fault) {
	route, params, pathKnown := s.find(c.request)
	c.route, c.params = route, params
	if !s.settings.mayCall(clientAddress(c.request)) {
		return c.refuse(http.StatusForbidden, "forbidden", "the address is not on the whitelist"), nil
	}
	if c.late {
		return c.refuse(http.StatusRequestTimeout, "invalid_request", "the body did not come in time"), nil
	}
	if len(c.body) > maxBody {
		return c.refuse(http.StatusRequestEntityTooLarge, "invalid_request", "the body is too large"), nil
	}
	if unexpected := s.unexpected(c); unexpected != nil {
		return *unexpected, nil
	}
	if wait := s.rates.exceeded(clientAddress(c.request), c.at); wait > 0 {
		refusal := c.refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "too many requests")
		if s.settings.retryAfter {
			refusal.retryAfter = wholeSeconds(wait)
		}
		return refusal, nil
	}
	switch {
	case route == nil && pathKnown:
		return c.refuse(http.StatusMethodNotAllowed, "method_not_allowed", "the path has no such method"), nil
	case route == nil:
		return c.refuse(http.StatusNotFound, "not_found", "there is no such path"), nil
	case route.testOnly && s.settings.production:
		return c.refuse(http.StatusNotFound, "not_found", "the simulator is available in the test environment only"), nil
	}
	if !route.open {
		if refusal := s.authorise(c); refusal != nil {
			return *refusal, nil
		}
	}
	fault := s.takeFault(route)
	if fault != nil {
		if before := fault.before(c); before != nil {
			if fault.late {
				s.runOn(*c, fault.after)
			}
			return *before, fault
		}
	}
	return s.carryOut(c), fault
}

func (s *Server) carryOut(c *call) reply {
	if len(c.route.query) == 0 && !s.settings.lenient && c.request.URL.RawQuery != "" {
		return c.unusable("this operation has no query parameters")
	}
	return c.route.handle(s, c)
}

func (s *Server) mediaType() string { return "application/vnd." + s.settings.vendor + "+json" }

// fail reports the wrong use of the kit: it fails the test or, in a program, goes to its log or to standard error.
func (s *Server) fail(format string, args ...any) {
	if s.tb != nil {
		s.tb.Helper()
		s.tb.Errorf("prepaidtest: "+format, args...)
		return
	}
	s.complain("wrong use", fmt.Sprintf(format, args...))
}

// complain goes to the log, or to standard error.
func (s *Server) complain(what, reason string) {
	if s.settings.logger != nil {
		s.settings.logger.Error("prepaidtest: "+what, slog.String("reason", reason))
		return
	}
	fmt.Fprintln(os.Stderr, "prepaidtest: "+what+":", reason)
}

func clientAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
