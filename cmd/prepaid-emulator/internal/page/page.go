// Package page is the emulator's web page: its accounts, requests, webhooks, faults and clock, as plain
// HTML that a small script keeps up to date.
package page

import (
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/cardprograms/prepaid/prepaidtest"
)

//go:embed static templates
var files embed.FS

// Config has the options of the page.
type Config struct {
	// AllowRemote accepts any Host header. By default the header must name a loopback address or localhost, so that a
	// web site whose name resolves to loopback reads nothing.
	AllowRemote bool
	// Version is shown at the foot.
	Version string
}

// Page is the handler for prepaidtest.Options.Page. It responds with 503 until Attach.
type Page struct {
	config    Config
	server    atomic.Pointer[prepaidtest.Server]
	handler   http.Handler
	templates map[string]*template.Template
}

// New makes a page that shows nothing yet.
func New(config Config) *Page {
	p := &Page{config: config, templates: templates()}
	p.handler = http.NewCrossOriginProtection().Handler(wholeForm(p.routes()))
	return p
}

// Attach sets the server to show.
func (p *Page) Attach(server *prepaidtest.Server) { p.server.Store(server) }

// entry is a navigation entry.
type entry struct{ Section, Path, Name, Key string } // press g, then Key

// entries are the navigation, in its order.
func entries() []entry {
	return []entry{
		{"overview", "/", "Overview", "o"},
		{"requests", "/requests", "Requests", "r"},
		{"accounts", "/accounts", "Accounts", "a"},
		{"companies", "/companies", "Companies", "c"},
		{"transfers", "/transfers", "Transfers", "t"},
		{"reports", "/reports", "Reports", "p"},
		{"webhooks", "/webhooks", "Webhooks", "w"},
		{"faults", "/faults", "Faults", "f"},
		{"access", "/access", "Access", "x"},
		{"clock", "/clock", "Clock", "k"},
	}
}

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	static, _ := fs.Sub(files, "static") // an embedded directory
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	for pattern, handler := range map[string]http.HandlerFunc{
		"GET /{$}":                     p.overview,
		"GET /requests":                p.requests,
		"GET /requests/{number}":       p.request,
		"POST /requests/{number}/send": p.sendAgain,
		"GET /requests/test":           p.story,
		"GET /accounts":                p.accounts,
		"GET /accounts/{id}":           p.onAccount(p.account),
		"POST /accounts/{id}/status":   p.onAccount(p.setStatus),
		"POST /accounts/{id}/adjust":   p.onAccount(p.adjust),
		"POST /accounts/{id}/activate": p.onAccount(p.activate),
		"POST /accounts/{id}/simulate": p.onAccount(p.simulate),
		"GET /pin-certificate.pem":     p.pinCertificate,
		"GET /companies":               p.companies,
		"GET /companies/{id}":          p.company,
		"GET /transfers":               p.transfers,
		"POST /transfers/hold":         p.hold,
		"GET /reports":                 p.reports,
		"GET /reports/{id}":            p.download,
		"GET /webhooks":                p.webhooks,
		"GET /webhooks/{id}":           p.webhook,
		"GET /webhooks/{id}/message":   p.message,
		"POST /webhooks/{id}/send":     p.sendMessage,
		"POST /webhooks/faults":        p.armHook,
		"POST /webhooks/faults/clear":  p.clearHookFaults,
		"GET /faults":                  p.faults,
		"POST /faults":                 p.arm,
		"POST /faults/clear":           p.clearFaults,
		"GET /access":                  p.access,
		"POST /access/revoke":          p.revoke,
		"GET /clock":                   p.clock,
		"POST /clock":                  p.advance,
		"GET /": func(w http.ResponseWriter, r *http.Request) {
			p.notFound(w, r, "There is no such page.")
		},
	} {
		mux.HandleFunc(pattern, handler)
	}
	return mux
}

// ServeHTTP responds to a browser's request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if !p.config.AllowRemote && !IsLoopback(r.Host) {
		fail(w, r, http.StatusForbidden, "The Host header must be a loopback address.")
		return
	}
	if p.server.Load() == nil {
		fail(w, r, http.StatusServiceUnavailable, "The emulator is starting.")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !isForm(r) {
		fail(w, r, http.StatusUnsupportedMediaType, "The Content-Type must be application/x-www-form-urlencoded.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	p.handler.ServeHTTP(w, r)
}

// maxForm has room for the longest body that the log keeps.
const maxForm = 64 << 10

// wholeForm refuses a form that cannot be read to its end.
func wholeForm(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			err := r.ParseForm()
			if _, long := errors.AsType[*http.MaxBytesError](err); long {
				fail(w, r, http.StatusRequestEntityTooLarge, "The form is larger than 64 KiB.")
				return
			}
			if err != nil {
				fail(w, r, http.StatusBadRequest, "The form is malformed.")
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// isForm reports whether a request is a form. A webhook message sent to this page is not a form, so it presses no button.
func isForm(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/x-www-form-urlencoded"
}

// IsLoopback reports whether a host can be reached from this machine only. The host may include a port.
func IsLoopback(hostPort string) bool {
	host := (&url.URL{Host: hostPort}).Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
