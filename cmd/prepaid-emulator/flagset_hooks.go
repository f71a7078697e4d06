package main

import (
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// hookSettings are the flags of webhooks.
type hookSettings struct {
	roots     string
	allowHTTP bool
	retries   []time.Duration
	every     time.Duration
	timeout   time.Duration
	signature prepaidtest.Signature
	faults    []prepaidtest.DeliveryFault
}

func (h *hookSettings) flags(f *flag.FlagSet) {
	f.StringVar(&h.roots, "hook-roots", "", "PEM `file` of the certificate authorities for webhook receivers; default those of the system")
	f.BoolVar(&h.allowHTTP, "allow-http-hooks", false, "accept http webhook addresses on loopback, from callers that send one; this SDK's client does not, and needs -hook-roots")
	f.Func("hook-retries", "`pauses` before further attempts to deliver a message, such as 1s,10s,1m (default one attempt)", h.readRetries)
	f.DurationVar(&h.every, "alert-every", time.Hour, "`duration` between alerts while undeliverable messages remain")
	f.DurationVar(&h.timeout, "hook-timeout", 5*time.Second, "`duration` of one attempt to deliver, in real time")
	f.StringVar(&h.signature.Header, "signature-header", "X-Signature", "`name` of the header with the HMAC-SHA256 of a message; empty sends none")
	f.StringVar(&h.signature.KeyIDHeader, "signature-key-id-header", "X-Hmac-Key-Id", "`name` of the header with hmac_key_id; empty sends none")
	f.StringVar(&h.signature.Prefix, "signature-prefix", "", "prefix `text` of the signature, such as sha256=")
	f.Func("signature-encoding", "`hex` or base64 (default hex)", choice(&h.signature.Base64, "hex", "base64"))
	f.Func("signature-key", "the key: the 32 `bytes` that hmac_key_secret encodes, or its 64 characters as text (default bytes)", choice(&h.signature.KeyText, "bytes", "text"))
	f.Func("hook-fault", "arm a `fault` for deliveries to any webhook; may be repeated (in the environment: separated by semicolons)", func(text string) error {
		fault, err := prepaidtest.ParseDeliveryFault(strings.TrimSpace(text))
		if err == nil {
			h.faults = append(h.faults, fault)
		}
		return err
	})
}

// choice reads one of two words.
func choice(into *bool, off, on string) func(string) error {
	return func(text string) error {
		if text != off && text != on {
			return errors.New("must be " + off + " or " + on)
		}
		*into = text == on
		return nil
	}
}

func (h *hookSettings) readRetries(text string) (err error) {
	h.retries, err = list(text, "must be durations such as 1s,10s,1m", func(one string) (time.Duration, bool) {
		pause, err := time.ParseDuration(one)
		return pause, err == nil && pause >= 0
	})
	return err
}

// check checks rules about several flags.
func (h *hookSettings) check() error {
	for flag, name := range map[string]string{"-signature-header": h.signature.Header, "-signature-key-id-header": h.signature.KeyIDHeader} {
		if strings.ContainsFunc(name, func(c rune) bool { return !isToken(c) }) {
			return errors.New(flag + " must be the name of a header")
		}
	}
	if strings.ContainsFunc(h.signature.Prefix, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("-signature-prefix must be printable ASCII without spaces")
	}
	return nil
}

// isToken reports whether a character is allowed in the name of a header (RFC 9110, 5.6.2).
func isToken(c rune) bool {
	return c > ' ' && c <= '~' && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}

func (h *hookSettings) options() []prepaidtest.Option {
	options := []prepaidtest.Option{
		prepaidtest.DeliveryRetries(h.retries...), prepaidtest.AlertEvery(h.every), prepaidtest.DeliveryTimeout(h.timeout),
		prepaidtest.WithSignature(h.signature),
	}
	if h.allowHTTP {
		options = append(options, prepaidtest.AllowHTTPOnLoopback())
	}
	return options
}
