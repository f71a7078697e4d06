package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
)

// describer returns the name of a category; nil has none.
type describer func(prepaid.MCC) string

// write prints a plan for people: added rules with +, removed ones with -, changed texts with ~.
func (p *plan) write(w io.Writer, describe describer) {
	effect := "rules block"
	if p.action == prepaid.PolicyActionDeny {
		effect = "rules allow"
	}
	fmt.Fprintf(w, "default action %s, %s\n", p.action, effect)
	category := func(code prepaid.MCC) string {
		if describe == nil {
			return word(string(code))
		}
		return strings.TrimRight(word(string(code))+" "+describe(code), " ")
	}
	writeDelta(w, "categories", &p.categories,
		func(r prepaid.CategoryRule) string { return category(r.MerchantCategoryCode) }, category, nil)
	writeDelta(w, "merchants", &p.merchants,
		func(r prepaid.MerchantRule) string { return showMerchant(merchantKey(&r)) + merchantTexts(r) }, showMerchant, merchantTexts)
	writeDelta(w, "terminals", &p.terminals,
		func(r prepaid.TerminalRule) string { return showTerminal(terminalKey(&r)) + terminalTexts(r) }, showTerminal, terminalTexts)
}

func writeDelta[K, R any](w io.Writer, name string, d *delta[K, R], rule func(R) string, key func(K) string, texts func(R) string) {
	if d.unmanaged {
		fmt.Fprintf(w, "  %s: not in the file, unchanged\n", name)
		return
	}
	fmt.Fprintf(w, "  %s: %s\n", name, d.count())
	for _, r := range d.add {
		fmt.Fprintln(w, "    +", rule(r))
	}
	for _, r := range d.replace {
		fmt.Fprintf(w, "    ~ %s%s ->%s\n", key(r.key), texts(r.old), texts(r.new))
	}
	for _, k := range d.remove {
		fmt.Fprintln(w, "    -", key(k))
	}
}

// String returns the counts that are not zero, and always the last.
func (c count) String() string {
	var b strings.Builder
	for _, part := range []struct {
		n    int
		word string
	}{{c.add, " to add, "}, {c.replace, " to replace, "}, {c.remove, " to remove, "}} {
		if part.n > 0 {
			b.WriteString(strconv.Itoa(part.n) + part.word)
		}
	}
	return b.String() + strconv.Itoa(c.unchanged) + " unchanged"
}

// digest identifies a plan and the policy it was made for: -expect compares it.
func (p *plan) digest(company prepaid.CompanyID, current state) (string, error) {
	sum := sha256.New()
	p.write(sum, nil)
	if err := writePolicy(sum, company, current); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func showMerchant(k prepaid.MerchantKey) string {
	return strconv.FormatInt(k.AcquirerID, 10) + " " + word(k.CardAcceptorID)
}

func showTerminal(k prepaid.TerminalKey) string {
	return strconv.FormatInt(k.AcquirerID, 10) + " " + word(k.CardAcceptorID) + " " + word(k.TerminalID)
}

func merchantTexts(r prepaid.MerchantRule) string { return " " + strconv.Quote(r.Description) }

func terminalTexts(r prepaid.TerminalRule) string {
	if r.CardAcceptorNameLocation == "" && r.Description == "" {
		return " (no text)"
	}
	return " " + strconv.Quote(r.CardAcceptorNameLocation) + " " + strconv.Quote(r.Description)
}

// word quotes anything but a plain word, so that no foreign text can look like part of a plan.
func word(text string) string {
	if quoted := strconv.Quote(text); text == "" || len(quoted) != len(text)+2 || strings.Contains(text, " ") {
		return quoted
	}
	return text
}
