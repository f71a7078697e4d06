package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestReadPolicy(t *testing.T) {
	t.Parallel()
	company, wanted, err := readPolicy("policy.yaml", strings.NewReader(`
company: 42
default_action: deny
categories: [0742, "5411"] # the first would be the number 482 to some
terminals:
  - {acquirer_id: 7, card_acceptor_id: "0012", terminal_id: 'T 1'}
`))
	require.NoError(t, err)
	require.Equal(t, prepaid.CompanyID(42), company)
	require.Equal(t, state{
		action: deny, categories: categoriesOf("0742", "5411"), // and no merchants: they are left alone
		terminals: terminalsOf(prepaid.TerminalRule{AcquirerID: 7, CardAcceptorID: "0012", TerminalID: "T 1"}),
	}, wanted)
}

func TestReadPolicyRefuses(t *testing.T) {
	t.Parallel()
	const head = "company: 42\ndefault_action: allow\n"
	for text, want := range map[string]string{
		"":                    "f: is empty",
		"# nothing\n":         "f: is empty",
		"---\n":               "f:2: must have keys: company, default_action, categories, merchants, terminals",
		"- a\n":               "f:1: must have keys: company, default_action, categories, merchants, terminals",
		"company: [\n":        "f: line 1: did not find expected node content",
		head + "---\n" + head: "f: must be one document",
		"company: 42\n":       "f:1: default_action is required",
		"company: -1\ndefault_action: permit\n": "f:1: company must be a whole number above zero\n" +
			"f:2: default_action must be allow or deny",
		"company: 0x2a\ndefault_action: allow\n":               "f:1: company must be a whole number above zero",
		"company: \"42\"\ndefault_action: allow\n":             "f:1: company must be a whole number above zero",
		"company: 9223372036854775808\ndefault_action: deny\n": "f:1: company must be a whole number above zero",
		head + "company: 43\n":                                 "f:3: has the key of line 1 a second time",
		head + "merchant: []\n":                                "f:3: has a key that is none of company, default_action, categories, merchants, terminals",
		head + "? [a]\n: b\n":                                  "f:3: has a key that is none of company, default_action, categories, merchants, terminals",
		head + "<<: {categories: []}\n":                        "f:3: has a key that is none of company, default_action, categories, merchants, terminals",
		head + "terminals:\n":                                  "f:3: terminals must be a list; write [] for one without rules, omit the key to leave the list unchanged",
		head + "categories: '7995'\n":                          "f:3: categories must be a list; write [] for one without rules, omit the key to leave the list unchanged",
		head + "categories:\n- 7995\n- 742\n- ''\n- [1]\n- 7995\n- seven\n": "f:5: categories[1] must be four digits, with leading zeros\n" +
			"f:6: categories[2] must be four digits, with leading zeros\nf:7: categories[3] must be four digits, with leading zeros\n" +
			"f:8: categories[4] duplicates line 4\nf:9: categories[5] must be four digits, with leading zeros",
		head + "categories: &a []\nterminals: *a\n": "f:3: categories must have no anchor and no alias\nf:4: terminals must have no anchor and no alias",
		head + "merchants:\n- 7995\n":               "f:4: merchants[0] must have keys: acquirer_id, card_acceptor_id, description",
		head + "merchants:\n- acquirer_id: 1\n  card_acceptor_id: 0012\n  description:\n": "f:5: merchants[0].card_acceptor_id must be in quotes\n" +
			"f:6: merchants[0].description must be a text",
		head + "merchants:\n- {acquirer_id: 1, terminal_id: T1}\n": "f:4: merchants[0] has a key that is none of acquirer_id, card_acceptor_id, description\n" +
			"f:4: merchants[0].card_acceptor_id is required\nf:4: merchants[0].description is required",
		head + "merchants:\n- {acquirer_id: 1, card_acceptor_id: A, description: x}\n- {acquirer_id: 1, card_acceptor_id: A, description: y}\n": "f:5: merchants[1] duplicates line 4",
		head + "terminals:\n- {acquirer_id: 1.5, card_acceptor_id: A, terminal_id: ''}\n":                                                       "f:4: terminals[0].acquirer_id must be a whole number above zero\nf:4: terminals[0].terminal_id must not be empty",
	} {
		_, _, err := readPolicy("f", strings.NewReader(text))
		require.EqualError(t, err, want, text)
	}
}

// What export writes is what plan reads, unusual texts included.
func TestExportIsReadBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := randomState(r, []prepaid.PolicyAction{allow, deny}[r.IntN(2)])
		unusual := []string{"no", "~", "0x1F", "1e3", "a: b", "- x", "#", "'", `"`, " x ", "two\nlines", "&a", "*a", "<<", "\u2028", "ünï", "\x7f", "|", "2026-01-01"}
		for _, text := range unusual {
			rule := prepaid.TerminalRule{AcquirerID: 3, CardAcceptorID: text, TerminalID: unusual[r.IntN(len(unusual))], Description: text}
			s.terminals[terminalKey(&rule)] = rule
		}
		var file bytes.Buffer
		require.NoError(t, writePolicy(&file, 42, s))
		company, again, err := readPolicy("f", &file)
		require.NoError(t, err)
		require.Equal(t, prepaid.CompanyID(42), company)
		require.Equal(t, s, again)
	}
}

// Whatever a file holds, it is refused or means one policy, which export writes the same way.
func FuzzReadPolicy(f *testing.F) {
	f.Add([]byte(shipped))
	f.Add([]byte(broken))
	f.Add([]byte("company: 1\ndefault_action: deny\ncategories: [0001]\nmerchants: []\nterminals: []\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		company, wanted, err := readPolicy("f", bytes.NewReader(text))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		var file bytes.Buffer
		require.NoError(t, writePolicy(&file, company, wanted))
		same, again, err := readPolicy("f", &file)
		require.NoError(t, err)
		require.Equal(t, company, same)
		again = again.within(wanted)
		require.Equal(t, wanted, again)
	})
}
