package main

import (
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid"
)

// money formats an amount for people: 1,234.50.
func money(a prepaid.Amount) string {
	whole, cents, _ := strings.Cut(a.Abs().String(), ".")
	text := thousands(whole) + "." + cents
	if a.Sign() < 0 {
		return "-" + text
	}
	return text
}

// grouped formats a count for people: 1,234.
func grouped(n int) string { return thousands(strconv.Itoa(n)) }

// thousands puts a comma between each three digits.
func thousands(digits string) string {
	head := len(digits) % 3
	parts := []string{}
	if head > 0 {
		parts = append(parts, digits[:head])
	}
	for ; head < len(digits); head += 3 {
		parts = append(parts, digits[head:head+3])
	}
	return strings.Join(parts, ",")
}

// typographic replaces hyphens by a real minus sign, as wide as a digit.
func typographic(text string) string {
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return "\u2212" + rest
	}
	return text
}
