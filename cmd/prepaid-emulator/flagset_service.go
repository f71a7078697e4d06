package main

import (
	"crypto"
	"errors"
	"flag"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// serviceFlags are the flags for behaviour that the reference leaves open.
func (s *settings) serviceFlags(f *flag.FlagSet) {
	f.Func("permitted-companies", "`ids` of the companies whose policy and webhooks the client may change, separated by commas (default all)",
		list(&s.PermittedCompanies, "must be company ids such as 42,77", readCompany))
	f.Func("allowed-addresses", "`addresses` or prefixes that may call, separated by commas, none of IPv4 larger than /29 (default all)",
		list(&s.AllowedAddresses, "must be addresses or prefixes such as 192.0.2.8/29,127.0.0.1, none of IPv4 larger than /29", readPrefix))
	statuses := make(map[string]string)
	for _, status := range prepaidtest.AccountStatuses() {
		statuses[status] = status
	}
	f.Func("initial-status", "`status` of a new account (default pre_active)", oneOf(&s.InitialStatus, statuses))
	f.Func("page-sizes", "`least,normal,most` items per page (default 1,50,500)", s.readPageSizes)
	f.Func("category-without-merchant", "four-digit category `code` of transactions without a merchant (default 0000)", func(text string) error {
		if !fourDigits.MatchString(text) {
			return errors.New("must have four digits, such as 6012")
		}
		s.CategoryWithoutMerchant = &text
		return nil
	})
	f.Func("failed-transfer", "`form` of the empty transaction_id of a failed transfer: string, null, absent or zero (default string)", oneOf(&s.FailedTransfer, map[string]prepaidtest.EmptyTransactionID{
		"string": prepaidtest.EmptyString, "null": prepaidtest.EmptyNull, "absent": prepaidtest.EmptyAbsent, "zero": prepaidtest.EmptyZero,
	}))
	f.Func("wallet-providers", "three wallet `names` in the path of wallet provisioning; the first needs nonce and certificates (default applepay,googlepay,samsungpay)", s.readWallets)
	f.Func("pin-tries", "`number` of wrong tries of a PIN change that block an account; 0 for no limit (default 0)", func(text string) (err error) {
		if s.PINTries, err = strconv.Atoi(text); err != nil || s.PINTries < 0 {
			return errors.New("must be a number, 0 or more")
		}
		return nil
	})
	f.Func("pin-mgf1", "`hash` of the mask in the OAEP of a PIN change: SHA1, SHA256 or SHA512 (default that of the envelope)", oneOf(&s.PINMGF1,
		map[string]crypto.Hash{"SHA1": crypto.SHA1, "SHA256": crypto.SHA256, "SHA512": crypto.SHA512}))
	f.BoolVar(&s.Kind, "kind", false, "of two readings of the reference use the kinder one, as prepaidtest.Options.Kind lists them (default the worse one)")
	f.BoolVar(&s.OldestTransactionsFirst, "oldest-first", false, "list the oldest transactions first (default the newest first)")
	f.BoolVar(&s.UncachedLoads, "uncached-loads", false, "carry out each repeat of a load; the reference may be read so (default a load is cached like any transfer)")
	f.BoolVar(&s.RetryAfter, "retry-after", false, "send Retry-After with 429")
	f.Func("dip-key", "`APPLICATION=KEY`, two UUIDs that the key exchange knows; may be repeated (in the environment: separated by semicolons; default every pair)", s.addKey)
}

// oneOf sets *into to values[text], if there is such a key.
func oneOf[T any](into *T, values map[string]T) func(string) error {
	return func(text string) error {
		value, known := values[text]
		if !known {
			return errors.New("must be one of " + strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		*into = value
		return nil
	}
}

// list reads values separated by commas. If read rejects a value, rule is the text of the error.
func list[T any](into *[]T, rule string, read func(one string) (value T, ok bool)) func(string) error {
	return func(text string) error {
		var values []T
		for one := range strings.SplitSeq(text, ",") {
			value, ok := read(strings.TrimSpace(one))
			if !ok {
				return errors.New(rule)
			}
			values = append(values, value)
		}
		*into = values
		return nil
	}
}

func readCompany(text string) (prepaid.CompanyID, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return prepaid.CompanyID(id), err == nil && id > 0
}

// readPrefix reads a prefix, or an address as a prefix that has only this address.
func readPrefix(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	if address, alone := netip.ParseAddr(text); alone == nil && address.Zone() == "" {
		prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
	}
	return prefix, err == nil && (!prefix.Addr().Is4() || prefix.Bits() >= 29)
}

func (s *settings) readPageSizes(text string) error {
	const rule = "must be three increasing numbers, such as 1,50,500"
	var sizes []int
	err := list(&sizes, rule, func(one string) (int, bool) {
		size, err := strconv.Atoi(one)
		return size, err == nil && size > 0
	})(text)
	if err != nil || len(sizes) != 3 || !slices.IsSorted(sizes) {
		return errors.New(rule)
	}
	s.PageSizes = prepaidtest.PageSizes{Least: sizes[0], Normal: sizes[1], Most: sizes[2]}
	return nil
}

var fourDigits = regexp.MustCompile(`^[0-9]{4}$`)

// walletName is a name that needs no escaping in a path.
var walletName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

func (s *settings) readWallets(text string) error {
	const rule = "must be three different names of letters, digits, dot, hyphen and underscore, such as applepay,googlepay,samsungpay"
	var names []string
	err := list(&names, rule, func(one string) (string, bool) { return one, walletName.MatchString(one) })(text)
	if err != nil || len(names) != 3 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 3 {
		return errors.New(rule)
	}
	s.WalletProviders = [3]string(names)
	return nil
}

// uuid is the form of the IDs in a key exchange.
var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

func (s *settings) addKey(text string) error {
	application, key, _ := strings.Cut(text, "=")
	application, key = strings.TrimSpace(application), strings.TrimSpace(key)
	if !uuid.MatchString(application) || !uuid.MatchString(key) {
		return errors.New("must have the form APPLICATION=KEY with two UUIDs")
	}
	s.keys = append(s.keys, dipKey{application, key})
	return nil
}

// hookFlags are the flags for webhooks.
func (s *settings) hookFlags(f *flag.FlagSet) {
	f.StringVar(&s.hookRoots, "hook-roots", "", "PEM `file` of the certificate authorities for webhook receivers; default those of the system")
	f.BoolVar(&s.AllowHTTPOnLoopback, "allow-http-hooks", false, "accept http webhook addresses on loopback, from callers that send one; this SDK's client does not, and needs -hook-roots")
	f.Func("hook-retries", "`pauses` before further attempts to deliver a message, such as 1s,10s,1m (default one attempt)",
		list(&s.DeliveryRetries, "must be durations such as 1s,10s,1m", func(one string) (time.Duration, bool) {
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
