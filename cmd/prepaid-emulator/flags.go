package main

import (
	"crypto"
	"encoding"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// settings are the values of the flags.
type settings struct {
	prepaidtest.Options

	Signature   prepaidtest.Signature
	PageSizes   [3]int
	AllowRemote bool
	Seed        string
	NoRateLimit bool
	Faults      []armed
	HookFaults  []prepaidtest.DeliveryFault
	HookRoots   string
	Log         string
	Keys        []string
	CheckHealth bool
	OpenAPI     bool
	Version     bool
}

// setting is a flag: name, path of its field in settings, default, usage. The word in backquotes is the placeholder of the value.
type setting struct {
	name, field, value, usage string
	words                     map[string]any // the values that the field can have
}

// table declares every flag with its default value.
func table() []setting {
	return []setting{
		{name: "listen", field: "ListenOn", value: "127.0.0.1:8480", usage: "`host:port` to listen on; port 0 picks a free port"},
		{name: "allow-remote", field: "AllowRemote", usage: "allow -listen on an address that others can reach, and any Host header on the page"},
		{name: "seed", field: "Seed", usage: "JSON `file` with companies, accounts, reports and hooks to start with; default a small demo program"},
		{name: "state", field: "StateFile", usage: "`file` that keeps the state across restarts; if it has a state, the emulator continues from it and seeds nothing"},
		{name: "vendor", field: "Vendor", value: "vendor", usage: "`word` in application/vnd.<vendor>+json"},
		{name: "client-id", field: "ClientID", value: "emulator-client", usage: "`id` of the OAuth client"},
		{name: "client-secret", field: "ClientSecret", value: "emulator-secret", usage: "`secret` of the OAuth client; better set in the environment"},
		{name: "rate-limit", field: "RateLimit", value: "1000", usage: "`requests` allowed per address in 10 s; 0 means the default"},
		{name: "no-rate-limit", field: "NoRateLimit", usage: "no limit at all, for load tests"},
		{name: "retry-after", field: "RetryAfter", usage: "send Retry-After with 429"},
		{name: "lenient", field: "Lenient", usage: "accept what the reference does not allow: unknown members, any Content-Type, values over the limits"},
		{name: "production", field: "Production", usage: "act as a production environment, without the simulator"},
		{name: "token-lifetime", field: "TokenLifetime", value: "1h", usage: "`duration` for which an access token is valid"},
		{name: "report-delay", field: "ReportDelay", value: "100ms", usage: "`duration` of a report run"},
		{name: "simulation-delay", field: "SimulationDelay", value: "100ms", usage: "`duration` until clear and reverse_clear take effect"},
		{name: "fault", field: "Faults", usage: "arm a fault, `OPERATION=FAULT`; may be repeated (in the environment: separated by semicolons)"},
		{name: "log", field: "Log", value: "text", usage: "one line per request on standard error: `text`, json or off", words: map[string]any{"text": "text", "json": "json", "off": "off"}},
		{name: "start-at", field: "StartAt", usage: "set the clock at start, for example 2030-01-31T08:00:00Z; `time` in RFC 3339"},
		{name: "frozen-clock", field: "FrozenClock", usage: "stop the clock, which then moves only with the buttons of the page; there is no rate limit unless -rate-limit sets one, whose window moves with the clock"},
		{name: "deterministic", field: "RandomSeed", usage: "produce the same IDs in each run, derived from this `number`"},
		{name: "hook-roots", field: "HookRoots", usage: "PEM `file` of the certificate authorities for webhook receivers; default those of the system"},
		{name: "allow-http-hooks", field: "AllowHTTPOnLoopback", usage: "accept http webhook addresses on loopback, from callers that send one; this SDK's client does not, and needs -hook-roots"},
		{name: "hook-retries", field: "DeliveryRetries", usage: "`pauses` before further attempts to deliver a message, such as 1s,10s,1m (default one attempt)"},
		{name: "hook-timeout", field: "DeliveryTimeout", value: "5s", usage: "`duration` of one attempt to deliver, in real time"},
		{name: "hook-fault", field: "HookFaults", usage: "arm a `fault` for deliveries to any webhook; may be repeated (in the environment: separated by semicolons)"},
		{name: "alert-every", field: "AlertEvery", value: "1h", usage: "`duration` between alerts while undeliverable messages remain"},
		{name: "signature-header", field: "Signature.Header", value: "X-Signature", usage: "`name` of the header with the HMAC-SHA256 of a message; empty sends none"},
		{name: "signature-key-id-header", field: "Signature.KeyIDHeader", value: "X-Hmac-Key-Id", usage: "`name` of the header with hmac_key_id; empty sends none"},
		{name: "signature-prefix", field: "Signature.Prefix", usage: "prefix `text` of the signature, such as sha256="},
		{name: "signature-encoding", field: "Signature.Base64", value: "hex", usage: "`hex` or base64", words: map[string]any{"hex": false, "base64": true}},
		{name: "signature-key", field: "Signature.KeyText", value: "bytes", usage: "the key: the 32 `bytes` that hmac_key_secret encodes, or its 64 characters as text", words: map[string]any{"bytes": false, "text": true}},
		{name: "permitted-companies", field: "PermittedCompanies", usage: "`ids` of the companies whose policy and webhooks the client may change, separated by commas (default all)"},
		{name: "allowed-addresses", field: "AllowedAddresses", usage: "`addresses` or prefixes that may call, separated by commas, none of IPv4 larger than /29 (default all)"},
		{name: "initial-status", field: "InitialStatus", value: "pre_active", usage: "`status` of a new account"},
		{name: "page-sizes", field: "PageSizes", value: "1,50,500", usage: "`least,normal,most` items per page"},
		{name: "failed-transfer", field: "FailedTransfer", value: "string", usage: "`form` of the empty transaction_id of a failed transfer: string, null, absent or zero", words: map[string]any{"string": prepaidtest.EmptyString, "null": prepaidtest.EmptyNull, "absent": prepaidtest.EmptyAbsent, "zero": prepaidtest.EmptyZero}},
		{name: "pin-mgf1", field: "PINMGF1", usage: "`hash` of the mask in the OAEP of a PIN change: SHA1, SHA256 or SHA512 (default that of the envelope)", words: map[string]any{"SHA1": crypto.SHA1, "SHA256": crypto.SHA256, "SHA512": crypto.SHA512}},
		{name: "kind", field: "Kind", usage: "of two readings of the reference use the kinder one, as prepaidtest.Options.Kind lists them (default the worse one)"},
		{name: "oldest-first", field: "OldestTransactionsFirst", usage: "list the oldest transactions first (default the newest first)"},
		{name: "uncached-loads", field: "UncachedLoads", usage: "carry out each repeat of a load; the reference may be read so (default a load is cached like any transfer)"},
		{name: "dip-key", field: "Keys", usage: "`APPLICATION=KEY`, two UUIDs that the key exchange knows; may be repeated (in the environment: separated by semicolons; default every pair)"},
		{name: "health", field: "CheckHealth", usage: "ask the emulator at -listen whether it serves, and stop: with status 0 if it does, else with 1 and the reason"},
		{name: "openapi", field: "OpenAPI", usage: "print the service as an OpenAPI 3.1 document, and stop"},
		{name: "version", field: "Version", usage: "print the version and stop"},
	}
}

// armed is a fault given with -fault.
type armed struct {
	operation string
	fault     prepaidtest.Fault
}

// UnmarshalText reads OPERATION=FAULT.
func (a *armed) UnmarshalText(text []byte) (err error) {
	operation, form, found := strings.Cut(string(text), "=")
	if !found {
		return errors.New("must have the form OPERATION=FAULT, for example 'POST /accounts/{id}/transfer=commit-then-drop'")
	}
	a.operation = strings.TrimSpace(operation)
	if a.operation != prepaidtest.AnyOperation && !slices.Contains(prepaidtest.Operations(), a.operation) {
		return errors.New("there is no such operation; use a method and a path of the reference, for example POST /accounts/{id}/transfer, or * for all")
	}
	a.fault, err = prepaidtest.ParseFault(strings.TrimSpace(form))
	return err
}

// flags makes the flags of the table, and sets their defaults.
func (s *settings) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("prepaid-emulator", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, one := range table() {
		into := reflect.ValueOf(s).Elem()
		for name := range strings.SplitSeq(one.field, ".") {
			into = into.FieldByName(name)
		}
		f := &value{setting: one, into: into}
		if one.value != "" {
			_ = f.Set(one.value) // a default is valid
		}
		flags.Var(f, one.name, one.usage)
	}
	return flags
}

// value implements flag.Value.
type value struct {
	setting

	into reflect.Value
}

// String returns the default: flag reads it before any flag is set.
func (v *value) String() string { return v.value }

// IsBoolFlag lets a flag have no value.
func (v *value) IsBoolFlag() bool {
	return v.into.IsValid() && v.into.Kind() == reflect.Bool && v.words == nil
}

// repeated reports whether the flag may be given more than once.
func (v *value) repeated() bool { return strings.Contains(v.usage, "may be repeated") }

// Set implements flag.Value.
func (v *value) Set(text string) error {
	kind := v.into.Kind()
	switch {
	case v.words != nil:
		word, known := v.words[text]
		if !known {
			return errors.New("must be one of " + strings.Join(slices.Sorted(maps.Keys(v.words)), ", "))
		}
		v.into.Set(reflect.ValueOf(word))
		return nil
	case kind != reflect.Slice && kind != reflect.Array:
		return read(v.into, text)
	}
	texts := []string{text}
	if !v.repeated() {
		texts = strings.Split(text, ",")
	}
	if kind == reflect.Array && len(texts) != v.into.Len() {
		return fmt.Errorf("must be %d values, separated by commas", v.into.Len())
	}
	for i, text := range texts {
		one := reflect.New(v.into.Type().Elem()).Elem()
		if text = strings.TrimSpace(text); text == "" {
			return errors.New("has an empty value")
		}
		if err := read(one, text); err != nil {
			return err
		}
		if kind == reflect.Array {
			v.into.Index(i).Set(one)
		} else {
			v.into.Set(reflect.Append(v.into, one))
		}
	}
	return nil
}

// read reads a value by its type.
func read(into reflect.Value, text string) (err error) {
	switch known := into.Addr().Interface().(type) {
	case *string:
		*known = text
		return nil
	case *time.Duration:
		*known, err = time.ParseDuration(text)
	case *prepaidtest.DeliveryFault:
		*known, err = prepaidtest.ParseDeliveryFault(text)
	case *netip.Prefix:
		if address, single := netip.ParseAddr(text); single == nil && address.Zone() == "" {
			*known = netip.PrefixFrom(address, address.BitLen()) // has only this address
			return nil
		}
		return known.UnmarshalText([]byte(text))
	case encoding.TextUnmarshaler:
		return known.UnmarshalText([]byte(text))
	default:
		if into.Kind() == reflect.Pointer {
			into.Set(reflect.New(into.Type().Elem()))
			return read(into.Elem(), text)
		}
		_, err = fmt.Sscanln(text, known)
	}
	if err == nil && into.CanInt() && into.Int() < 0 {
		err = errors.New("must not be negative")
	}
	return err
}
