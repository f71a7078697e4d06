package prepaidtest

import (
	"crypto/x509"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// Signature is how webhook messages are signed: an HMAC-SHA256 of the body. The reference does not show it.
type Signature struct {
	// Header carries the sum. Default "X-Signature"; no signature when empty.
	Header string
	// KeyIDHeader carries the hook's hmac_key_id. Default "X-Hmac-Key-Id"; not sent when empty.
	KeyIDHeader string
	// Prefix precedes the sum, for example "sha256=". Default none.
	Prefix string
	// Base64 encodes the sum in standard Base64. Default lower hex.
	Base64 bool
	// KeyText uses the 64 characters of hmac_key_secret as the key. Default: the 32 bytes they stand for.
	KeyText bool
}

// WithSignature sets how webhook messages are signed. See the fields of Signature for defaults.
func WithSignature(form Signature) Option {
	return func(s *settings) { s.service.Hooks.Signature = hooks.Signing(form) }
}

// WithWebhookRoots sets the trusted certificate authorities of webhook receivers. Default: the system's. A
// receiver of httptest.NewTLSServer needs a pool with its Certificate().
func WithWebhookRoots(roots *x509.CertPool) Option {
	return func(s *settings) { s.service.Hooks.Roots = roots }
}

// AllowHTTPOnLoopback accepts webhook addresses with http on a loopback host from a plain HTTP caller, another
// language or a seed document. Package prepaid's client refuses such an address before sending, and needs
// WithWebhookRoots instead. By default an address must be https, as in the reference.
func AllowHTTPOnLoopback() Option { return func(s *settings) { s.service.Hooks.HTTPLoopback = true } }

// DeliveryRetries sets the pauses before further attempts to deliver a message, on the server's clock. By
// default there is one attempt. If the last attempt fails, the message is undeliverable.
func DeliveryRetries(pauses ...time.Duration) Option {
	return func(s *settings) { s.service.Hooks.Retries = pauses }
}

// DeliveryTimeout bounds one attempt, also of pings. Default 5 s of real time.
func DeliveryTimeout(d time.Duration) Option {
	return func(s *settings) { s.service.Hooks.Timeout = d }
}

// AlertEvery sets the interval of undeliverable alerts, on the server's clock, while undismissed messages
// remain. Default one hour.
func AlertEvery(d time.Duration) Option { return func(s *settings) { s.service.Hooks.AlertEvery = d } }

// MessageTypes sets the type member of pings and alerts, which the reference does not show. Defaults "ping" and
// "undeliverable_alert". README.md shows the messages.
func MessageTypes(ping, alert string) Option {
	return func(s *settings) { s.service.Hooks.PingType, s.service.Hooks.AlertType = ping, alert }
}

// WithFilter makes the server accept spec as a filter_spec and send the transactions for which match returns
// true. By default the server accepts only "*", like the reference.
func WithFilter(spec string, match func(Transaction) bool) Option {
	return func(s *settings) {
		if s.service.Hooks.Filters == nil {
			s.service.Hooks.Filters = make(map[string]func(ledger.Item) bool)
		}
		s.service.Hooks.Filters[spec] = func(i ledger.Item) bool { return match(transactionOf(i)) }
	}
}
