package prepaidtest

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Option sets behaviour that the reference leaves open, or that a test must change. Each states its default.
type Option func(*settings)

// settings is a server's configuration, fixed after its start.
type settings struct {
	vendor     string
	production bool
	logger     *slog.Logger
	address    string
	listener   net.Listener
	network    *memoryNetwork // of InMemory
	pages      http.Handler
	state      io.Reader
	stateFile  string
	rateLimit  int
	rateSpan   time.Duration
	retryAfter bool
	addresses  gate.Whitelist
	failureLog int
	form       *exchange.Form
	service    service.Options
}

func newSettings(options []Option) (settings, error) {
	s := settings{
		vendor: "vendor", address: "127.0.0.1:0", rateLimit: 1000, rateSpan: 10 * time.Second, failureLog: 20,
		form: &exchange.Form{PageSizes: wire.PageSizes{Least: 1, Normal: 50, Most: 500}},
		service: service.Options{
			NoCategory: "0000", ReportDelay: 100 * time.Millisecond,
			Tokens: gate.TokenOptions{
				ClientID: "emulator-client", ClientSecret: "emulator-secret", Lifetime: time.Hour, BadOnReport: 401,
			},
			Accounts: accounts.Options{
				InitialStatus: "pre_active", WalletWithCertificates: "applepay", OtherWallets: []string{"googlepay", "samsungpay"},
				CardNetwork: "mastercard",
			},
			Simulator: simulator.Options{Delay: 100 * time.Millisecond},
			PINs:      pin.Options{OTPLifetime: 10 * time.Minute},
			Hooks: hooks.Options{
				Signature: hooks.Signing{Header: "X-Signature", KeyIDHeader: "X-Hmac-Key-Id"}, Timeout: 5 * time.Second,
				AlertEvery: time.Hour, PingType: "ping", AlertType: "undeliverable_alert", LogSize: 10_000,
			},
		},
	}
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	s.form.MediaType = "application/vnd." + s.vendor + "+json"
	s.service.Hooks.MediaType, s.service.Transfers.Logger = s.form.MediaType, s.logger
	return s, s.validate()
}

func (s *settings) validate() error {
	var faults []error
	check := func(ok bool, rule string) {
		if !ok {
			faults = append(faults, errors.New("prepaidtest: "+rule))
		}
	}
	check(s.vendor != "" && !strings.ContainsAny(s.vendor, " /;+"), "Vendor: must be one word")
	check(s.service.Tokens.ClientID != "" && s.service.Tokens.ClientSecret != "" && !strings.Contains(s.service.Tokens.ClientID, ":"), "Credentials: both are required, and no colon in the id")
	check(s.form.PageSizes.Valid(), "PageSizes: must rise and begin at 1 or above")
	check(s.service.Start.IsZero() || (s.service.Start.Year() >= 1970 && !s.service.Start.After(clock.End())), "StartAt: must be from 1970 to 2200")
	check(s.service.Tokens.Lifetime > 0, "TokenLifetime: must be positive")
	check(s.rateLimit >= 0 && s.rateSpan > 0, "RateLimit: must not be negative")
	check(slices.Contains(ledger.AccountStatuses(), s.service.Accounts.InitialStatus), "InitialStatus: must be one of the eleven statuses")
	check(s.service.Tokens.BadOnReport == 400 || s.service.Tokens.BadOnReport == 401, "BadTokenOnReportStart: must be 400 or 401")
	check(s.service.NoCategory == "" || wire.IsFourDigits(s.service.NoCategory), "CategoryWithoutMerchant: must have four digits or be empty")
	check(s.service.Hooks.LogSize >= 0, "RequestLog: must not be negative")
	check(s.failureLog >= 0, "LogOnFailure: must not be negative")
	check(s.service.PINs.Tries >= 0, "PINTries: must not be negative")
	check(s.service.PINs.MGF1 == 0 || slices.Contains(mgf1Hashes(), s.service.PINs.MGF1), "PINMGF1: must be SHA1, SHA256 or SHA512")
	check(!slices.ContainsFunc(s.addresses, gate.TooWide), "AllowedAddresses: must be prefixes, none of IPv4 larger than /29")
	return errors.Join(faults...)
}

// Vendor sets the word in application/vnd.<vendor>+json. Default "vendor".
func Vendor(word string) Option { return func(s *settings) { s.vendor = word } }

// Credentials sets the OAuth client that can get tokens. Default "emulator-client" and "emulator-secret".
func Credentials(clientID, clientSecret string) Option {
	return func(s *settings) { s.service.Tokens.ClientID, s.service.Tokens.ClientSecret = clientID, clientSecret }
}

// Lenient switches strictness off: the server accepts any Content-Type, unknown members and parameters, values
// over the limits, null for an absent member, quoted numbers and any RFC 3339 time. By default it refuses each
// with a description that names the field.
func Lenient() Option { return func(s *settings) { s.form.Lenient = true } }

// Production makes the server a production environment: the simulator's paths respond with 404. The default is a
// test environment.
func Production() Option { return func(s *settings) { s.production = true } }

// WithLogger logs one line per request: method, path template, status, error code, whether by a fault, duration. Nothing is logged by default.
func WithLogger(logger *slog.Logger) Option { return func(s *settings) { s.logger = logger } }

// ListenOn sets where to listen. Default "127.0.0.1:0", a free port on loopback.
func ListenOn(hostPort string) Option { return func(s *settings) { s.address = hostPort } }

// WithListener serves on listener instead of a new port; the server then owns it. For a listener in memory, see [InMemory].
func WithListener(listener net.Listener) Option {
	return func(s *settings) { s.listener, s.network = listener, nil }
}

// StartAt sets the server's clock at start, from 1970 to 2200. Default: the real time.
func StartAt(at time.Time) Option { return func(s *settings) { s.service.Start = at } }

// FrozenClock stops the server's clock: only Advance moves it and the rate limit's window. A test with more requests than
// the limit needs NoRateLimit. By default the clock runs like real time.
func FrozenClock() Option { return func(s *settings) { s.service.Frozen = true } }

// RandomSeed makes the server's ids the same in each run. By default they are random.
func RandomSeed(seed uint64) Option { return func(s *settings) { s.service.Seed = &seed } }

// TokenLifetime sets how long access tokens are valid, on the server's clock. Default one hour.
func TokenLifetime(d time.Duration) Option {
	return func(s *settings) { s.service.Tokens.Lifetime = d }
}

// RateLimit sets how many requests one client address may send in a window; the first request opens the window,
// and requests over the limit get 429 until its end. Zero requests means no limit. Default 1,000 in 10 s.
func RateLimit(requests int, window time.Duration) Option {
	return func(s *settings) { s.rateLimit, s.rateSpan = requests, window }
}

// NoRateLimit switches the rate limit off, for load tests.
func NoRateLimit() Option { return func(s *settings) { s.rateLimit = 0 } }

// WithRetryAfter sends Retry-After with each 429: seconds, rounded up, until the window ends. The reference
// has no such header; by default it is not sent.
func WithRetryAfter() Option { return func(s *settings) { s.retryAfter = true } }

// BadTokenOnReportStart sets the status of a report start with a bad token: 401 as everywhere (default), or
// 400, as the operation's own row can be read.
func BadTokenOnReportStart(status int) Option {
	return func(s *settings) { s.service.Tokens.BadOnReport = status }
}

// QuotedStrings sends the octet-stream strings (report id, key exchange data) as JSON strings. By default they
// are bare.
func QuotedStrings() Option { return func(s *settings) { s.form.QuotedStrings = true } }

// PageSizes sets the internal minimum and maximum page size, and the size without page_size. Defaults 1, 50 and
// 500. X-PageSize has the applied size.
func PageSizes(least, normal, most int) Option {
	return func(s *settings) { s.form.PageSizes = wire.PageSizes{Least: least, Normal: normal, Most: most} }
}

// NewestTransactionsFirst lists an account's history with the newest item first: a new item moves all others to later
// pages. The reference does not state the order. By default the oldest item is first.
func NewestTransactionsFirst() Option {
	return func(s *settings) { s.service.Accounts.NewestFirst = true }
}

// NoCompanySearchPaging omits the paging headers in responses of the company search: the reference shows
// none. By default they are sent.
func NoCompanySearchPaging() Option {
	return func(s *settings) { s.service.Accounts.NoCompanyPaging = true }
}

// CompanySearchObject makes the company search respond with one object, the first account found, without paging headers:
// the literal reading of its row in the reference. By default it responds with an array in pages.
func CompanySearchObject() Option {
	return func(s *settings) { s.service.Accounts.CompanyObject, s.service.Accounts.NoCompanyPaging = true, true }
}

// InitialStatus sets the status of a new account. Default "pre_active": the cardholder activates the card first.
func InitialStatus(status string) Option {
	return func(s *settings) { s.service.Accounts.InitialStatus = status }
}

// ClearOmittedMembers makes PUT /accounts/{id} clear client_account_key, display_name and portal_identifier
// when the body does not have them. By default they are kept. The whole registration is always replaced.
func ClearOmittedMembers() Option {
	return func(s *settings) { s.service.Accounts.ClearOmitted = true }
}

// CustomPlasticExpiry makes plastic_expiry of a creation effective, like a manufacturing batch that allows
// it. By default the member has no effect.
func CustomPlasticExpiry() Option {
	return func(s *settings) { s.service.Accounts.CustomPlasticExpiry = true }
}

// WalletProviders sets the names of the three wallets in POST /accounts/{id}/wallet/{provider}. Only the first
// needs nonce, nonce_signature and certificates. Defaults "applepay", "googlepay", "samsungpay".
func WalletProviders(withCertificates, second, third string) Option {
	return func(s *settings) {
		s.service.Accounts.WalletWithCertificates, s.service.Accounts.OtherWallets = withCertificates, []string{second, third}
	}
}

// CardNetwork sets the provider member of the wallet response. Default "mastercard".
func CardNetwork(name string) Option {
	return func(s *settings) { s.service.Accounts.CardNetwork = name }
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

// FailedTransfer sets how a failed transfer shows its empty transaction_id. Default EmptyString.
func FailedTransfer(form EmptyTransactionID) Option {
	return func(s *settings) { s.service.Transfers.Failed = transfers.EmptyID(form) }
}

// EmptyIDForFailedDirectEntry makes a failed direct entry out respond with 200 and an empty transaction_id, like a
// card-to-card transfer. By default it responds with 400, since its row requires the transaction_id.
func EmptyIDForFailedDirectEntry() Option {
	return func(s *settings) { s.service.Transfers.EmptyDirectEntry = true }
}

// MatchedReversalsOnly makes POST /simulation/reverse_clear book nothing if there is no matching clearing, or it
// was already reversed. The reference has no condition: by default each request books a clearing reversal.
func MatchedReversalsOnly() Option {
	return func(s *settings) { s.service.Simulator.MatchedReversals = true }
}

// MatchByAuthorizationID makes the simulator find an authorisation by only authorization_id, account_id and transaction_type.
// The reference does not define the match: by default acquirer_id, merchant_id, terminal_id and mcc must match too.
func MatchByAuthorizationID() Option {
	return func(s *settings) { s.service.Simulator.MatchByID = true }
}

// CategoryWithoutMerchant sets the merchant_category_code of history items that have no merchant, such as loads, transfers
// and adjustments, and of a simulated transaction without mcc. The reference requires any four digits. Default "0000"; ""
// leaves the field empty.
func CategoryWithoutMerchant(code string) Option {
	return func(s *settings) { s.service.NoCategory = code }
}

// SimulationDelay sets when clear and reverse_clear take effect, on the server's clock. Default 100 ms.
func SimulationDelay(d time.Duration) Option {
	return func(s *settings) { s.service.Simulator.Delay = d }
}

// ReportDelay sets how long a report run takes, on the server's clock. Default 100 ms.
func ReportDelay(d time.Duration) Option { return func(s *settings) { s.service.ReportDelay = d } }

// OTPLifetime sets how long the one-time password of a PIN change is valid, on the server's clock. Default
// ten minutes.
func OTPLifetime(d time.Duration) Option { return func(s *settings) { s.service.PINs.OTPLifetime = d } }

// PermittedCompanies sets whose policy and webhooks the caller may change. Default: all companies.
func PermittedCompanies(ids ...prepaid.CompanyID) Option {
	return func(s *settings) { s.service.Permitted = companyIDs[int64](ids) }
}

// RequestLog sets how many requests and how many deliveries are kept; the oldest are dropped. Default 10,000. A body is
// kept up to 16 KiB, and all requests together up to 64 MiB.
func RequestLog(size int) Option { return func(s *settings) { s.service.Hooks.LogSize = size } }
