package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	d, err := readFile([]byte(`
company: 42
default_action: deny
categories: [0742, "5411"] # the first would be the number 482 to some
terminals:
  - {acquirer_id: 7, card_acceptor_id: "0012", terminal_id: 'T 1'}
`))
	require.NoError(t, err)
	require.Equal(t, &document{
		Company: 42, DefaultAction: deny, Categories: []prepaid.MCC{"0742", "5411"}, // and no merchants: they are unchanged
		Terminals: []terminal{{AcquirerID: 7, CardAcceptorID: "0012", TerminalID: "T 1"}},
	}, d)
	d, err = readFile([]byte("company: 42\ndefault_action: deny\ncategories: []\n"))
	require.NoError(t, err)
	require.NotNil(t, d.Categories, "all its rules are removed")
}

func TestReadFileRefuses(t *testing.T) {
	t.Parallel()
	const head = "company: 42\ndefault_action: allow\n"
	for text, want := range map[string]string{
		"":                                "invalid input: EOF",
		"- a\n":                           "line 1: cannot unmarshal !!seq into main.document",
		"company: [\n":                    "line 1: did not find expected node content",
		"default_action: allow\n":         "company is required",
		head + "---\n" + head:             "must be one document",
		"company: secret\n":               "line 1: cannot unmarshal !!str",
		head + "company: 43\n":            "line 3: mapping key \"company\" already defined at line 1",
		head + "merchant: []\n":           "line 3: field merchant not found",
		head + "merchants:\n- {id: 1}\n":  "line 4: field id not found",
		head + "terminals:\n":             "terminals must not be empty; write [] for no rules, omit the key to leave the list unchanged",
		head + "categories: 'secret'\n":   "line 3: cannot unmarshal !!str",
		head + "merchants:\n- secret 7\n": "line 4: cannot unmarshal !!str",
	} {
		_, err := readFile([]byte(text))
		require.ErrorIs(t, err, errInput, text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "secret")
	}
}

// The output of export can be read back, even unusual texts.
func TestExportIsReadBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := randomDocument(r, []prepaid.PolicyAction{allow, deny}[r.IntN(2)])
		for n, text := range []string{"no", "~", "0x1F", "1e3", "a: b", "- x", "#", "'", `"`, " x ", "two\nlines", "&a", "*a", "<<", "\u2028", "ünï", "\x7f", "|"} {
			d.Terminals = append(d.Terminals, terminal{AcquirerID: int64(100 + n), CardAcceptorID: text, TerminalID: text, Description: text})
		}
		file := as(t, d)
		again, err := readFile([]byte(file))
		require.NoError(t, err)
		require.Equal(t, file, as(t, *again))
		require.ElementsMatch(t, d.Terminals, again.Terminals)
	}
}

// Any file is refused or means one policy, which export writes the same way.
func FuzzReadPolicy(f *testing.F) {
	f.Add(shipped)
	f.Add([]byte("company: 1\ndefault_action: deny\ncategories: [0001]\nmerchants: []\nterminals: []\n"))
	f.Add([]byte("company: 42\ndefault_action: allow\ncategories: [7995, 742, 7995]\nmerchant: []\nterminals:\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := readFile(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		file := as(t, *d)
		again, err := readFile([]byte(file))
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(file), []byte(as(t, *again))))
	})
}
