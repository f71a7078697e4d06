// Package page is the emulator's web page: its requests, accounts, transfers, webhooks, faults and clock, as plain HTML that a
// small script keeps up to date. A program can press the page's buttons: see the type action.
package page

import (
	"embed"
	"errors"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/cardprograms/prepaid"
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

// Page is the handler for prepaidtest.Options.Page.
type Page struct {
	config  Config
	server  *prepaidtest.Server
	handler http.Handler
}

// New makes a page. Call Attach before its first request.
func New(config Config) *Page {
	p := &Page{config: config}
	p.handler = http.NewCrossOriginProtection().Handler(wholeForm(p.routes()))
	return p
}

// Attach sets the server to show.
func (p *Page) Attach(server *prepaidtest.Server) { p.server = server }

// screen returns the content of a page. Without a title, the page does not exist.
type screen func(r *http.Request) view

// entries are the navigation, in its order.
func entries() []link {
	return []link{
		{"Overview", "/"},
		{"Requests", "/requests"},
		{"Accounts", "/accounts"},
		{"Transfers", "/transfers"},
		{"Webhooks", "/webhooks"},
		{"Faults", "/faults"},
		{"Clock", "/clock"},
	}
}

func (p *Page) screens() map[string]screen {
	return map[string]screen{
		"/{$}":               p.overview,
		"/requests":          p.requests,
		"/requests/{number}": p.request,
		"/requests/test":     p.story,
		"/accounts":          p.accounts,
		"/accounts/{id}":     p.account,
		"/transfers":         p.transfers,
		"/webhooks":          p.webhooks,
		"/webhooks/message":  p.message,
		"/faults":            p.faults,
		"/clock":             p.clock,
		"/":                  func(*http.Request) view { return view{} },
	}
}

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	static, _ := fs.Sub(files, "static") // an embedded directory
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	mux.HandleFunc("GET /pin-certificate.pem", p.pinCertificate)
	screens := p.screens()
	for pattern, screen := range screens {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			p.show(w, r, http.StatusOK, screen(r), "")
		})
	}
	for _, a := range actions() {
		mux.HandleFunc("POST "+a.path, func(w http.ResponseWriter, r *http.Request) { p.press(w, r, a, screens[a.back]) })
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
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !isForm(r) {
		fail(w, r, http.StatusUnsupportedMediaType, "The Content-Type must be application/x-www-form-urlencoded.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	p.handler.ServeHTTP(w, r)
}

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

// Quote quotes a text as one word for a POSIX shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// pinCertificate sends the operator's public certificate for PIN changes.
func (p *Page) pinCertificate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-pem-file")
	w.Header().Set("Content-Disposition", `attachment; filename="pin-certificate.pem"`)
	_, _ = w.Write(p.server.PINCertificate()) // fails if the reader has disconnected
}

// accountOf returns the account in the path of a request.
func (p *Page) accountOf(r *http.Request) prepaid.AccountID {
	return prepaid.AccountID(r.PathValue("id"))
}
