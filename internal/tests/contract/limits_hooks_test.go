package contract

import (
	"context"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func badHookURIs() [][2]string {
	return [][2]string{
		{"http://qzxwv.example/", "https://h.example"}, {"qzxwv.example/a", "https://[2001:db8::1]:8443/a?b=c#d"},
		{"ftp://qzxwv.example/", "HTTPS://h.example/é"}, {"https:///qzxwv", "https://localhost/"}, {"https://:443/qzxwv", "https://10.0.0.1/"},
		{"//qzxwv.example/", "https://h/"}, {"https://qzx wv.example/", "https://h.example/%20"}, {"https://q@/zxwv", "https://user:pa%20ss@h.example/@"},
		{"https:qzxwv.example", "https://пример.example/"},
	}
}

// Sections 2.13 and 8: 1 to 64 ASCII letters, digits and symbols, no white space, control character or semicolon.
func badKeyIDs() [][2]string {
	var all strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		if c != ';' {
			all.WriteByte(c)
		}
	}
	symbols := all.String()
	return [][2]string{
		{strings.Repeat("q7Z-x", 13), strings.Repeat("q7Z-", 16)}, {"q7Z x", symbols[:64]}, {"q7Z;x", symbols[len(symbols)-64:]},
		{"q7Z\tx", "~"}, {"q7Z\x7fx", "!"}, {"q7Zéx", ":"}, {"q7Z\nx", "0"},
	}
}

func badKeySecrets() [][2]string {
	hex := strings.Repeat("9aF", 21)
	return [][2]string{
		{hex, hex + "0"}, {hex + "00", strings.Repeat("0", 64)}, {hex[1:], hex + "e"}, {hex + "000", hex + "C"}, {hex + "g", strings.Repeat("F", 64)}, {" " + hex, hex + "f"},
		{hex + "\n", hex + "A"},
	}
}

// Section 4.8, POST /hooks, with sections 2.13 and 8.
func TestValidationCreateHook(t *testing.T) {
	t.Parallel()
	type P = prepaid.CreateHookParams
	uri := func(p *P) *string { return &p.URI }
	mode := func(p *P) *prepaid.ReliabilityMode { return &p.ReliabilityMode }
	keyID := func(p *P) *string { return &p.HMACKeyID }
	rows := append([]limit[P]{form("4.8", "uri", "is required", uri, "", "https://h")},
		showing("qzxwv", forms("2.13, 4.8", "uri", "must be an https address", uri, badHookURIs()...)...)...)
	rows = append(rows,
		limit[P]{
			ref: "4.8", field: "scope", rule: "is required",
			bad: func(p *P) { p.Scope = nil }, good: func(p *P) { p.Scope = []prepaid.CompanyID{-1, 0, 1 << 62} },
		},
		limit[P]{
			ref: "2.13", field: "scope", rule: "is required",
			bad: func(p *P) { p.Scope = nil }, good: func(p *P) { p.Scope = []prepaid.CompanyID{} },
		},
		needed("4.8", "filter_spec", func(p *P) *string { return &p.FilterSpec }), // its grammar is not shown
		form("4.8", "reliability_mode", "is required", mode, "", "none"),
		form("2.13", "reliability_mode", "must be one of none, store_undeliverable", mode, "QZXWV", "store_undeliverable"),
		form("2.13", "reliability_mode", "must be one of none, store_undeliverable", mode, "NONE", "none"),
		form("2.13, 8", "hmac_key_id", "is required", keyID, "", "k"))
	rows = append(rows, forms("2.13, 8", "hmac_key_id", "1 to 64 ASCII", keyID, badKeyIDs()...)...)
	rows = append(rows, limit[P]{
		ref: "4.8", field: "hmac_key_secret", rule: "is required", bad: func(p *P) { p.HMACKeySecret = prepaid.Secret{} }, good: func(*P) {},
	})
	for _, pair := range badKeySecrets() {
		rows = append(rows, limit[P]{
			ref: "2.13, 8", field: "hmac_key_secret", rule: "64 hex characters", shown: pair[0],
			bad: func(p *P) { p.HMACKeySecret = prepaid.NewSecret(pair[0]) }, good: func(p *P) { p.HMACKeySecret = prepaid.NewSecret(pair[1]) },
		})
	}
	requireLimits(t, harness.ValidHook, method[prepaid.CreateHookParams]("Hooks.Create"), rows...)
	requireRefusal(t, sendsNothing(t, harness.Calling("Hooks.Create", P{})), "",
		fields("uri", "scope", "filter_spec", "reliability_mode", "hmac_key_id", "hmac_key_secret")...)
}

// Section 4.8, lists and dismissal.
func TestValidationHookLists(t *testing.T) {
	t.Parallel()
	paging := zero[prepaid.Paging]
	requireLimits(t, paging, method[prepaid.Paging]("Hooks.ListPage"), pagingLimits()...)
	requireLimits(t, paging, method[prepaid.Paging]("Hooks.Undeliverable", "hook"), pagingLimits()...)

	type P = []prepaid.MessageID
	requireLimits(t, func() P { return P{"m"} }, func(ctx context.Context, c *prepaid.Client, p P) error { return c.Hooks.Dismiss(ctx, "hook", p...) },
		limit[P]{ref: "4.8", field: "message_ids", rule: "at least one message", bad: func(p *P) { *p = nil }, good: func(p *P) { *p = P{"m", "m"} }},
		limit[P]{ref: "4.8", field: "message_ids[1]", rule: "is required", bad: func(p *P) { *p = P{"m", ""} }, good: func(p *P) { *p = P{prepaid.MessageID(harness.WideText(1000))} }},
	)
}
