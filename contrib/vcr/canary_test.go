package prepaidvcr_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// tap remembers every value that went over the wire, in both directions, and the requests.
type tap struct {
	next http.RoundTripper

	mu     sync.Mutex
	values map[string]bool
}

func newTap() *tap {
	return &tap{next: &http.Transport{DisableKeepAlives: true}, values: map[string]bool{}}
}

func (p *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		sent, _ = io.ReadAll(req.Body)
		out := *req
		out.Body = io.NopCloser(bytes.NewReader(sent))
		req = &out
	}
	response, err := p.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(got))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values[req.Host] = true
	scheme, credentials, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	p.values[credentials] = true
	if plain, err := base64.StdEncoding.DecodeString(credentials); scheme == "Basic" && err == nil {
		id, secret, _ := strings.Cut(string(plain), ":")
		p.values[id], p.values[secret] = true, true
	}
	for part := range strings.SplitSeq(req.URL.Path, "/") {
		p.values[part] = true
	}
	for _, values := range req.URL.Query() {
		for _, value := range values {
			p.values[value] = true
		}
	}
	p.leaves(sent)
	p.leaves(got)
	return response, err
}

func (p *tap) leaves(body []byte) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		p.values[string(body)] = true
		return
	}
	p.leaf(value)
}

func (p *tap) leaf(value any) {
	switch v := value.(type) {
	case string:
		p.values[v] = true
		for cell := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(",\r\n", r) }) {
			p.values[strings.Trim(cell, `"`)] = true
		}
	case json.Number:
		p.values[v.String()] = true
	case []any:
		for _, inner := range v {
			p.leaf(inner)
		}
	case map[string]any:
		for _, inner := range v {
			p.leaf(inner)
		}
	}
}

// keptForms are values of the journey that are kept by design. The list is from the reference, not from the
// schema.
var keptForms = regexp.MustCompile(`^(` + strings.Join(append(strings.FieldsFunc(strings.Join(prepaidtest.Operations(), "/"), func(r rune) bool {
	return strings.ContainsRune("/{} ", r) // words of paths
}), []string{
	`20[0-9-]+T[0-9:]+Z`, // times that are not personal; the personal times are checked below
	`-?[0-9]+\.[0-9]+`,   // amounts
	`active|pre_active|inactive|reloadable|proxy|googlepay|mastercard|approved|Purchase|no_exception|store_undeliverable`,
	`device_memory|embedded_secure_element_token|unknown|success|phone|digitisation_approved|transaction|SHA256`,
	`must_block|secure_element|grant_type=client_credentials`,
	`Approved|Adjustment|adjustment|initiated|validated|executed|amount|cardholder`, // words that also occur elsewhere, such as a status
	`client_credentials|bearer|account_not_found|hook_not_found|invalid_hook_id|report_processing`,
}...), "|") + `)$`)

// encodings are the forms in which a value could hide in a text.
func encodings(value string) []string {
	quoted, _ := json.Marshal(value)
	forms := []string{
		value, url.QueryEscape(value), url.PathEscape(value), strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(value)),
		strings.ToUpper(hex.EncodeToString([]byte(value))), strings.ToUpper(value), strings.ToLower(value),
		strings.NewReplacer("-", "", " ", "").Replace(value),
	}
	for shift := range 3 { // the alignments of Base64, without the characters that neighbours affect
		text := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift)+value)), "=")
		forms = append(forms, text[min(len(text), shift+shift/2+shift%2):max(len(text)-1, 0)])
	}
	return forms
}

// world is an emulator for the journey.
type world struct {
	*prepaidtest.Server
	from, to prepaid.AccountID
	uri      string
	failing  atomic.Bool
}

const vendorWord = "cnryvendor"

func newWorld(t *testing.T, word string) *world {
	t.Helper()
	w := &world{}
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if w.failing.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	receiver.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())
	w.uri = receiver.URL + "/" + word
	w.Server = prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: -1, SimulationDelay: -1, InitialStatus: "active", WebhookRoots: roots, Vendor: vendorWord, ClientID: word + "-client", ClientSecret: word + "-secret"})
	w.from = w.AddAccount(prepaidtest.SeedAccount{Balance: "500.00"})
	w.to = w.AddAccount(prepaidtest.SeedAccount{})
	w.AddWalletToken(w.from, prepaidtest.WalletToken{
		Device:        prepaidtest.WalletDevice{DeviceID: word + "-dev", DeviceName: word + "'s phone", SecureElementID: word + "-se", DeviceType: "phone"},
		LastCommentID: word + "-comment", WalletID: word + "-wallet", TokenRequestorName: word + " requestor", TokenRequestorID: "70110030273",
		Suspenders: []string{word + "-suspender"}, CurrentStatusDescription: word + " status", TokenSuffix: "8765",
	})
	w.AddReportCSV("settlement", "cardholder,amount\r\n"+word+" Report,-25.50\r\n\""+word+" \"\"Quoted\"\", Second\",7512345678\r\n")
	w.Inject("GET /reporting/templates/{templatename}/reports/{reportid}",
		prepaidtest.Respond(204, "report_processing"), prepaidtest.Respond(204, "report_processing"))
	return w
}

func (w *world) journey(t *testing.T, client *prepaid.Client, word string) *journey {
	t.Helper()
	return &journey{
		t: t, client: client, word: word, company: prepaidtest.DefaultCompany, template: "settlement",
		from: w.from, to: w.to, uri: w.uri, pin: w.PINCertificate(), otp: w.OTP,
		undo: func() {
			w.failing.Store(true)
			w.Adjust(w.from, "1.00")
			require.NoError(t, w.WaitIdle(t.Context()))
		},
	}
}

// A recording of the operations has no value of the journey in any encoding, and replays with other values and no
// server.
func TestCanariesOfAllOperations(t *testing.T) {
	t.Parallel()
	const word, other = "Cnryvalue", "Another"
	w := newWorld(t, word)
	path := filepath.Join(t.TempDir(), "all")
	wire := newTap()
	options := prepaidvcr.Options{Mode: prepaidvcr.ModeRecord, Transport: wire, ReportColumns: []string{"cardholder", "amount"}}
	w.AddApplication((&journey{word: word}).uuid("App"), (&journey{word: word}).uuid("AppKey"))
	recorder, client := open(t, path, options, w.Config())
	recorded := w.journey(t, client, word).run()
	require.NoError(t, client.Close())
	require.NoError(t, recorder.Stop())

	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	requireNoCanary(t, string(content), word, wire)
	require.NoError(t, w.Close())

	options.Mode, options.Transport = prepaidvcr.ModeReplay, nil
	replay, again := open(t, path, options, prepaid.Config{TestEnvironment: true})
	made := &journey{
		t: t, client: again, word: other, company: 99, template: "other_report", from: "EA00000000007777", to: "somebody",
		uri: "https://hooks.example.org/x", pin: w.PINCertificate(), otp: func(string) string { return "123456" }, undo: func() {},
	}
	require.Equal(t, recorded, made.run())
	require.NoError(t, again.Close())
	require.NoError(t, replay.Stop())
}

func requireNoCanary(t *testing.T, content, word string, wire *tap) {
	t.Helper()
	lower := strings.ToLower(content)
	for _, form := range encodings(word) {
		require.NotContains(t, lower, strings.ToLower(form), "the word of the journey")
	}
	made := &journey{word: word}
	for _, value := range []string{
		"127.0.0.1", vendorWord, "Basic", "Bearer ", "1987-03", "2077-05", made.digits("BSB", 6), made.digits("BSB2", 6), made.digits("Card", 6),
	} {
		require.NotContains(t, content, value)
	}
	checked := 0
	for value := range wire.values {
		if len(value) < 8 || keptForms.MatchString(value) {
			continue
		}
		checked++
		for _, form := range encodings(value) {
			if len(form) >= 8 && strings.Contains(content, form) {
				t.Errorf("a value of the wire is in the cassette: %q", value) // fictional, so it may be shown
				break
			}
		}
	}
	require.Greater(t, checked, 120, "the tap saw too little")
}
