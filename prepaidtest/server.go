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

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ring"
)

// Server is one emulator with its own state. Make it with NewServer in a test or with Start in a program. It is
// safe for concurrent use, and servers share nothing, so that parallel tests can each have one.
type Server struct {
	// URL is the base URL with its path prefix, for example "http://127.0.0.1:40123/3.0/".
	URL string

	settings settings
	routes   exchange.Table
	clock    *clock.Clock
	ids      *ids.Source
	rates    *rateLimiter
	faults   *armoury[Fault]
	mishaps  *armoury[DeliveryFault]
	requests *ring.Ring[Request]
	form     *exchange.Form

	tb       testing.TB // nil when started by a program
	http     *http.Server
	front    *exchange.Door // nil until serving
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
	deliveries *ring.Ring[Delivery]
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
		settings: settings, tb: tb,
		ids:      ids.New(settings.seed),
		rates:    newRateLimiter(settings.rateLimit, settings.rateSpan),
		faults:   newArmoury(AnyOperation, settings.seed, 1, func(f Fault) schedule { return f.schedule }),
		mishaps:  newArmoury("", settings.seed, 2, func(f DeliveryFault) schedule { return f.schedule }),
		requests: ring.New[Request](settings.requestLog), deliveries: ring.New[Delivery](settings.requestLog),
		stopping: make(chan struct{}), sending: make(chan struct{}, 8), sender: newSender(settings.webhooks),
		companies: make(map[int64]*company), accounts: make(map[string]*account), byKey: make(map[accountKey][]*account),
		tokens: make(map[string]time.Time), transfers: make(map[transferKey]cachedTransfer), movements: make(map[transferKey]int),
		approvals: make(map[string]*authorisation), redeemed: make(map[int64]*redemption),
		templates: make(map[string]template), runs: make(map[string]*reportRun), lastRun: make(map[string]*reportRun),
		dipKeys: make(map[dipKey]bool), dipUsed: make(map[[32]byte]bool), pinChanges: make(map[string]*pinChange),
		hooks: make(map[string]*hook),
	}
	s.routes = routes(s)
	s.form = &exchange.Form{
		MediaType: "application/vnd." + settings.vendor + "+json", Lenient: settings.lenient, QuotedStrings: settings.quotedStrings,
		PageSizes: settings.pageSizes,
	}
	s.clock = clock.New(settings.start, settings.frozen)
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
	s.URL = "http://" + listener.Addr().String() + exchange.Prefix + "/"
	s.front = exchange.NewDoor(listener)
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	s.work.Go(func() { _ = s.http.Serve(s.front) }) // always returns ErrServerClosed after Close
	s.work.Go(s.front.Run)
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
		s.front.Stop()
	}
	s.clock.Close()
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
	limited := exchange.LimitBody(s.http, w, r)
	if s.settings.pages != nil && !strings.HasPrefix(r.URL.Path, exchange.Prefix+"/") {
		s.settings.pages.ServeHTTP(w, r)
		return
	}
	began := time.Now()
	s.clock.Settle()
	c := &exchange.Call{Form: s.form, Request: r, At: s.clock.Now()}
	if !c.ReadBody(w, limited) {
		return
	}
	c.Cached = s.cached.Load()
	answer, fault := s.answer(c)
	answer.At = s.clock.Now()
	fault.disguise(&answer)
	switch { // in the log before the caller can look, but for the answers that are made while they are sent
	case fault.takesOver():
		s.record(c, answer, fault, time.Since(began))
		s.spoil(w, answer, fault)
	case answer.Stream == nil:
		s.record(c, answer, fault, time.Since(began))
		answer.Write(fault.slow(s, w, r), r, s.front)
	default:
		sent := c.WriteStream(fault.slow(s, w, r), answer)
		s.record(c, sent, fault, time.Since(began))
	}
	answer.Release()
}

// answer decides what a request gets, in the order of a gateway: address, size, what the test expects, rate, path,
// token, armed fault, operation.
func (s *Server) answer(c *exchange.Call) (exchange.Response, *Fault) {
	route, params, pathKnown := s.routes.Find(c.Request)
	c.Route, c.Params = route, params
	if !s.settings.mayCall(clientAddress(c.Request)) {
		return c.Refuse(http.StatusForbidden, "forbidden", "the address is not on the whitelist"), nil
	}
	if c.Late {
		return c.Refuse(http.StatusRequestTimeout, "invalid_request", "the body did not come in time"), nil
	}
	if c.TooLarge() {
		return c.Refuse(http.StatusRequestEntityTooLarge, "invalid_request", "the body is too large"), nil
	}
	if unexpected := s.unexpected(c); unexpected != nil {
		return *unexpected, nil
	}
	if wait := s.rates.exceeded(clientAddress(c.Request), c.At); wait > 0 {
		refusal := c.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "too many requests")
		if s.settings.retryAfter {
			refusal.RetryAfter = wholeSeconds(wait)
		}
		return refusal, nil
	}
	switch {
	case route == nil && pathKnown:
		return c.Refuse(http.StatusMethodNotAllowed, "method_not_allowed", "the path has no such method"), nil
	case route == nil:
		return c.Refuse(http.StatusNotFound, "not_found", "there is no such path"), nil
	case route.TestOnly && s.settings.production:
		return c.Refuse(http.StatusNotFound, "not_found", "the simulator is available in the test environment only"), nil
	}
	if !route.Open {
		if refusal := s.authorise(c); refusal != nil {
			return *refusal, nil
		}
	}
	fault := s.takeFault(route)
	if fault != nil {
		if before := s.before(fault, c); before != nil {
			if fault.late {
				s.runOn(*c, fault.after)
			}
			return *before, fault
		}
	}
	return s.carryOut(c), fault
}

func (s *Server) carryOut(c *exchange.Call) exchange.Response {
	if len(c.Route.Query) == 0 && !s.settings.lenient && c.Request.URL.RawQuery != "" {
		return c.Unusable("this operation has no query parameters")
	}
	return c.Route.Handle(c)
}

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
