package main

import (
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func (s *settings) hookFlags(f *flag.FlagSet) {
	f.StringVar(&s.hookRoots, "hook-roots", "", "PEM `file` of the certificate authorities for webhook receivers; default those of the system")
	f.BoolVar(&s.AllowHTTPOnLoopback, "allow-http-hooks", false, "accept http webhook addresses on loopback, from callers that send one; this SDK's client does not, and needs -hook-roots")
	f.Func("hook-retries", "`pauses` before further attempts to deliver a message, such as 1s,10s,1m (default one attempt)", list(&s.DeliveryRetries, "must be durations such as 1s,10s,1m", func(one string) (time.Duration, bool) {
		pause, err := time.ParseDuration(one)
		return pause, err == nil && pause >= 0
	}))
	f.DurationVar(&s.AlertEvery, "alert-every", time.Hour, "`duration` between alerts while undeliverable messages remain")
	f.DurationVar(&s.DeliveryTimeout, "hook-timeout", 5*time.Second, "`duration` of one attempt to deliver, in real time")
	s.Signature = new(prepaidtest.Signature)
	f.StringVar(&s.Signature.Header, "signature-header", "X-Signature", "`name` of the header with the HMAC-SHA256 of a message; empty sends none")
	f.StringVar(&s.Signature.KeyIDHeader, "signature-key-id-header", "X-Hmac-Key-Id", "`name` of the header with hmac_key_id; empty sends none")
	f.StringVar(&s.Signature.Prefix, "signature-prefix", "", "prefix `text` of the signature, such as sha256=")
	f.Func("signature-encoding", "`hex` or base64 (default hex)", oneOf(&s.Signature.Base64, map[string]bool{"hex": false, "base64": true}))
	f.Func("signature-key", "the key: the 32 `bytes` that hmac_key_secret encodes, or its 64 characters as text (default bytes)", oneOf(&s.Signature.KeyText, map[string]bool{"bytes": false, "text": true}))
	f.Func("hook-fault", "arm a `fault` for deliveries to any webhook; may be repeated (in the environment: separated by semicolons)", func(text string) error {
		fault, err := prepaidtest.ParseDeliveryFault(strings.TrimSpace(text))
		if err == nil {
			s.hookFaults = append(s.hookFaults, fault)
		}
		return err
	})
}

func (s *settings) checkSignature() error {
	for flag, name := range map[string]string{"-signature-header": s.Signature.Header, "-signature-key-id-header": s.Signature.KeyIDHeader} {
		if strings.ContainsFunc(name, func(c rune) bool { return !isToken(c) }) {
			return errors.New(flag + " must be the name of a header")
		}
	}
	if strings.ContainsFunc(s.Signature.Prefix, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("-signature-prefix must be printable ASCII without spaces")
	}
	return nil
}

// isToken reports whether a character is allowed in the name of a header (RFC 9110, 5.6.2).
func isToken(c rune) bool {
	return c > ' ' && c <= '~' && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}
