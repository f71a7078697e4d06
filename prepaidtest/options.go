package prepaidtest

import (
	"crypto"
	_ "crypto/sha1" //nolint:gosec // for PINMGF1: some operators support no other mask function
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/cardprograms/prepaid"
)

// Options sets behaviour that the reference leaves open, or that a test must change. The zero value of each field is its default.
type Options struct {
	// Vendor is the word in application/vnd.<vendor>+json. Default "vendor".
	Vendor string
	// ClientID is the ID of the OAuth client that can get tokens. Default "emulator-client".
	ClientID string
	// ClientSecret is the secret of this client. Default "emulator-secret".
	ClientSecret string
	// PermittedCompanies are the companies whose policy and webhooks the caller may change. Default: all.
	PermittedCompanies []prepaid.CompanyID
	// AllowedAddresses is the address whitelist of section 5: other callers get 403 forbidden before any other check.
	// As in the reference, no IPv4 subnet larger than /29 is accepted. Default: all addresses.
	AllowedAddresses []netip.Prefix
	// Production makes the server a production environment: the simulator's paths respond with 404. The default is a test environment.
	Production bool
	// Lenient switches strictness off: the server accepts any Content-Type, unknown members and parameters, values over the limits, null
	// for an absent member, quoted numbers and any RFC 3339 time. By default the server refuses each of these and names the field.
	Lenient bool

	// ListenOn is the address to listen on. Default "127.0.0.1:0": a free port on loopback.
	ListenOn string
	// Listener is used instead of a new port. The server then owns the Listener.
	Listener net.Listener
	// InMemory serves on pipes instead of a port, for a test inside a [testing/synctest] bubble. Only clients of [Server.Config] and
	// [Server.Client] connect to the pipes. Such clients have the default pauses (40 s before a transfer of unknown outcome is
	// repeated), which take no real time in a bubble.
	InMemory bool
	// Page handles every path outside /3.0/, for example as a web page with the emulator's state. Requests for such a path need no
	// token, are not logged and not rate-limited. By default they get 404. Close cuts their connections and waits for Page.
	Page http.Handler
	// Logger logs one line per request: method, path template, status, error code, whether the request took a fault, duration. Default: none.
	Logger *slog.Logger
	// RequestLog is how many requests and how many deliveries are kept; the oldest are dropped. A body is kept up to 16 KiB, and all
	// requests together up to 64 MiB. Default 10,000; negative: none.
	RequestLog int

	// StartAt sets the server's clock at start, from 1970 to 2200. Default: the real time.
	StartAt time.Time
	// FrozenClock stops the server's clock: only Advance moves the clock and the rate limit's window. A test with more requests than
	// the limit needs RateLimit: -1. By default the clock runs like real time.
	FrozenClock bool
	// RandomSeed makes the server's IDs the same in each run. Default nil: random IDs.
	RandomSeed *uint64
	// TokenLifetime is how long access tokens are valid, on the server's clock. Default one hour.
	TokenLifetime time.Duration
	// RateLimit is how many requests one client address may send in a RateWindow. The first request opens the window; requests over the
	// limit get 429 until the window ends. Default 1,000. Negative: no limit, for load tests.
	RateLimit int
	// RateWindow is the length of the window of RateLimit. Default 10 s.
	RateWindow time.Duration
	// RetryAfter adds the header Retry-After to each 429: the seconds until the window ends, rounded up. The reference has no such header.
	RetryAfter bool
	// SimulationDelay is the time until clear and reverse_clear take effect, on the server's clock. Default 100 ms; negative: at once.
	SimulationDelay time.Duration
	// ReportDelay is how long a report run takes, on the server's clock. Default 100 ms; negative: no time.
	ReportDelay time.Duration

	// State is a state to begin from, as Save wrote it. It is read once at start. If the state is invalid, Start fails; the error does
	// not quote the state. A frozen clock continues where it was. A running clock continues as if it had always run: due work is done
	// at once. StartAt has no effect. If the saved server had a RandomSeed, its IDs continue, and RandomSeed has no effect.
	//
	// Functions cannot be saved: until you call AddReport again for a template, its saved runs fail with 500 (those of AddReportCSV and
	// the built-in template respond as before). By default a server begins with only company 42.
	State io.Reader
	// StateFile is a file to begin from and to keep up to date: the whole file is written, with mode 0600, about a second after a change
	// and, if changes are left, on Close. See Save for its secrets and State for how a server continues. If the file does not exist or is
	// empty, the server begins from State or anew and writes the file. If the file cannot be read or used, is mounted without its
	// directory, or another server uses it, Start fails and does not change the file. Next to the file are a lock file (suffix ".lock")
	// and, during a write, a copy (suffix ".tmp"). The lock needs flock, which Windows lacks. A failed write is logged once, to Logger or
	// standard error, and tried again; Close returns an error if the file is not up to date. By default nothing is kept.
	//
	// Each write costs time and memory for the whole state. After a write the server waits at least ten times
	// as long as the write took. If the state is large, a killed process thus loses more than a second of changes.
	StateFile string

	// Kind sets the seven options that follow, up to MatchByAuthorizationID: the emulator then has, of each two readings of the reference,
	// the one that is kinder to a client. By default it has the worse reading, so that a client that works here works with either.
	Kind bool
	// KeepOmittedMembers makes PUT /accounts/{id} keep the optional members that the body does not have. By default they are cleared. The
	// whole registration is always replaced.
	KeepOmittedMembers bool
	// OldestTransactionsFirst lists an account's history with the oldest item first. The reference does not state the order. By default
	// the newest item is first: a new item moves all others to later pages.
	OldestTransactionsFirst bool
	// CompanySearchPaging sends the paging headers in responses of the company search. By default there are none: the reference shows none.
	CompanySearchPaging bool
	// RefuseFailedDirectEntry makes a failed direct entry out respond with 400, since the reference requires the transaction_id. By default
	// it has the response of a failed card-to-card transfer: 200 with an empty transaction_id.
	RefuseFailedDirectEntry bool
	// UnauthorizedReportStart makes a request to start a report with a bad token respond with 401, as other operations do. By default the
	// status is 400, as in the operation's row of the reference.
	UnauthorizedReportStart bool
	// MatchedReversalsOnly makes POST /simulation/reverse_clear book nothing if there is no matching clearing, or if that
	// clearing was already reversed. The reference has no condition: by default each request books a clearing reversal.
	MatchedReversalsOnly bool
	// MatchByAuthorizationID makes the simulator find an authorisation by only authorization_id, account_id and transaction_type. The
	// reference does not define the match: by default acquirer_id, merchant_id, terminal_id and mcc must match too.
	MatchByAuthorizationID bool

	// PageSizes are the internal minimum and maximum page size, and the size without page_size. X-PageSize has the applied size.
	PageSizes PageSizes

	// InitialStatus is the status of a new account. Default "pre_active": the cardholder activates the card first.
	InitialStatus string
	// FailedTransfer is how a failed transfer shows its empty transaction_id. Default EmptyString.
	FailedTransfer EmptyTransactionID
	// UncachedLoads makes each load (transaction_type 2950) move the money, even with the request_id of an earlier load. This is another
	// reading of the reference, whose cache "applies to direct entry out and card-to-card transfer". By default loads are cached too, as
	// the client assumes unless [prepaid.Config].NeverRepeatLoads is set: they are requests of the operation Card-to-card transfer.
	UncachedLoads bool
	// OTPLifetime is how long the one-time password of a PIN change is valid, on the server's clock. Default ten minutes.
	OTPLifetime time.Duration
	// PINMGF1 is the hash of OAEP's mask function when the server opens a PIN envelope: crypto.SHA1, as in the default provider of Java,
	// crypto.SHA256 or crypto.SHA512. The reference does not define it. The default, zero, means the OAEP hash of the envelope.
	PINMGF1 crypto.Hash

	// Signature is how webhook messages are signed. Default: headers X-Signature and X-Hmac-Key-Id; see the fields for their defaults.
	Signature *Signature
	// WebhookRoots are the trusted certificate authorities of webhook receivers. Default: the system's. A receiver of
	// httptest.NewTLSServer needs a pool with its Certificate().
	WebhookRoots *x509.CertPool
	// AllowHTTPOnLoopback accepts webhook addresses with http on a loopback host, from a seed document or from a caller other than
	// package prepaid's client. That client refuses such an address before sending, and needs WebhookRoots instead. By default an
	// address must be https, as in the reference.
	AllowHTTPOnLoopback bool
	// DeliveryRetries are the pauses before further attempts to deliver a message, on the server's clock. By default there is one
	// attempt. If the last attempt fails, the message is undeliverable.
	DeliveryRetries []time.Duration
	// DeliveryTimeout bounds one attempt to deliver a message or a ping. Default 5 s of real time.
	DeliveryTimeout time.Duration
	// AlertEvery is the interval of undeliverable alerts, on the server's clock, while undismissed messages remain. Default one hour.
	AlertEvery time.Duration
}

// PageSizes are three sizes in ascending order; they may be equal. The zero value means 1, 50 and 500.
type PageSizes struct {
	// Least is the smallest size of a page, even if page_size is less.
	Least int
	// Normal is the size of a page without page_size.
	Normal int
	// Most is the largest size of a page.
	Most int
}

// EmptyTransactionID is how a response shows an empty transaction_id.
type EmptyTransactionID int

const (
	// EmptyString sends "", and is the default.
	EmptyString EmptyTransactionID = iota
	// EmptyNull sends null.
	EmptyNull
	// EmptyAbsent omits the member.
	EmptyAbsent
	// EmptyZero sends 0.
	EmptyZero
)

// Signature is how webhook messages are signed: an HMAC-SHA256 of the body. The reference shows no signature.
type Signature struct {
	// Header is the name of the header with the sum. When empty, there is no signature.
	Header string
	// KeyIDHeader is the name of the header with the hook's hmac_key_id; not sent when empty.
	KeyIDHeader string
	// Prefix precedes the sum, for example "sha256=". Default none.
	Prefix string
	// Base64 encodes the sum in standard Base64. Default lower hex.
	Base64 bool
	// KeyText uses the 64 characters of hmac_key_secret as the key. Default: the 32 bytes that they encode.
	KeyText bool
}
