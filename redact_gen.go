// Code generated from struct tags by tools/wiregen. DO NOT EDIT.

package prepaid

import (
	"fmt"
	"log/slog"

	"github.com/cardprograms/prepaid/internal/redact"
)

// Format prints the set members, without personal or confidential values.
func (a Account) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

// LogValue returns the same as a group.
func (a Account) LogValue() slog.Value { return redact.LogValue(a) }

// Format prints the set members, without personal or confidential values.
func (a AccountSummary) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

// LogValue returns the same as a group.
func (a AccountSummary) LogValue() slog.Value { return redact.LogValue(a) }

// Format prints the set members, without personal or confidential values.
func (a Address) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

// LogValue returns the same as a group.
func (a Address) LogValue() slog.Value { return redact.LogValue(a) }

// Format prints the set members, without personal or confidential values.
func (a AlternateAddress) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

// LogValue returns the same as a group.
func (a AlternateAddress) LogValue() slog.Value { return redact.LogValue(a) }

// Format prints the set members, without personal or confidential values.
func (b BankAccount) Format(state fmt.State, verb rune) { redact.Format(state, verb, b) }

// LogValue returns the same as a group.
func (b BankAccount) LogValue() slog.Value { return redact.LogValue(b) }

// Format prints the set members, without personal or confidential values.
func (c Cardholder) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

// LogValue returns the same as a group.
func (c Cardholder) LogValue() slog.Value { return redact.LogValue(c) }

// Format prints the set members, without personal or confidential values.
func (c CreateAccountParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

// LogValue returns the same as a group.
func (c CreateAccountParams) LogValue() slog.Value { return redact.LogValue(c) }

// Format prints the set members, without personal or confidential values.
func (c CreateHookParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

// LogValue returns the same as a group.
func (c CreateHookParams) LogValue() slog.Value { return redact.LogValue(c) }

// Format prints the set members, without personal or confidential values.
func (d DirectEntryOutParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, d) }

// LogValue returns the same as a group.
func (d DirectEntryOutParams) LogValue() slog.Value { return redact.LogValue(d) }

// Format prints the set members, without personal or confidential values.
func (f FreeText) Format(state fmt.State, verb rune) { redact.Format(state, verb, f) }

// LogValue returns the same as a group.
func (f FreeText) LogValue() slog.Value { return redact.LogValue(f) }

// Format prints the set members, without personal or confidential values.
func (h Hook) Format(state fmt.State, verb rune) { redact.Format(state, verb, h) }

// LogValue returns the same as a group.
func (h Hook) LogValue() slog.Value { return redact.LogValue(h) }

// Format prints the set members, without personal or confidential values.
func (i InitiatePINParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

// LogValue returns the same as a group.
func (i InitiatePINParams) LogValue() slog.Value { return redact.LogValue(i) }

// Format prints the set members, without personal or confidential values.
func (i IssueParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

// LogValue returns the same as a group.
func (i IssueParams) LogValue() slog.Value { return redact.LogValue(i) }

// Format prints the set members, without personal or confidential values.
func (i IssueResult) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

// LogValue returns the same as a group.
func (i IssueResult) LogValue() slog.Value { return redact.LogValue(i) }

// Format prints the set members, without personal or confidential values.
func (m Message) Format(state fmt.State, verb rune) { redact.Format(state, verb, m) }

// LogValue returns the same as a group.
func (m Message) LogValue() slog.Value { return redact.LogValue(m) }

// Format prints the set members, without personal or confidential values.
func (p Passport) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

// LogValue returns the same as a group.
func (p Passport) LogValue() slog.Value { return redact.LogValue(p) }

// Format prints the set members, without personal or confidential values.
func (p PortalIdentifier) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

// LogValue returns the same as a group.
func (p PortalIdentifier) LogValue() slog.Value { return redact.LogValue(p) }

// Format prints the set members, without personal or confidential values.
func (p ProvisionWalletParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

// LogValue returns the same as a group.
func (p ProvisionWalletParams) LogValue() slog.Value { return redact.LogValue(p) }

// Format prints the set members, without personal or confidential values.
func (r RawRequest) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

// LogValue returns the same as a group.
func (r RawRequest) LogValue() slog.Value { return redact.LogValue(r) }

// Format prints the set members, without personal or confidential values.
func (r RawResponse) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

// LogValue returns the same as a group.
func (r RawResponse) LogValue() slog.Value { return redact.LogValue(r) }

// Format prints the set members, without personal or confidential values.
func (r RedeemFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

// LogValue returns the same as a group.
func (r RedeemFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

// Format prints the set members, without personal or confidential values.
func (r RefundFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

// LogValue returns the same as a group.
func (r RefundFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

// Format prints the set members, without personal or confidential values.
func (r ReverseFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

// LogValue returns the same as a group.
func (r ReverseFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

// Format prints the set members, without personal or confidential values.
func (s SealedPINParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

// LogValue returns the same as a group.
func (s SealedPINParams) LogValue() slog.Value { return redact.LogValue(s) }

// Format prints the set members, without personal or confidential values.
func (s SearchCompanyParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

// LogValue returns the same as a group.
func (s SearchCompanyParams) LogValue() slog.Value { return redact.LogValue(s) }

// Format prints the set members, without personal or confidential values.
func (s SimulateParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

// LogValue returns the same as a group.
func (s SimulateParams) LogValue() slog.Value { return redact.LogValue(s) }

// Format prints the set members, without personal or confidential values.
func (t TransferParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, t) }

// LogValue returns the same as a group.
func (t TransferParams) LogValue() slog.Value { return redact.LogValue(t) }

// Format prints the set members, without personal or confidential values.
func (u UpdateAccountParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, u) }

// LogValue returns the same as a group.
func (u UpdateAccountParams) LogValue() slog.Value { return redact.LogValue(u) }

// Format prints the set members, without personal or confidential values.
func (u UpdateHookParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, u) }

// LogValue returns the same as a group.
func (u UpdateHookParams) LogValue() slog.Value { return redact.LogValue(u) }

// Format prints the set members, without personal or confidential values.
func (w WalletDevice) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

// LogValue returns the same as a group.
func (w WalletDevice) LogValue() slog.Value { return redact.LogValue(w) }

// Format prints the set members, without personal or confidential values.
func (w WalletProvisioning) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

// LogValue returns the same as a group.
func (w WalletProvisioning) LogValue() slog.Value { return redact.LogValue(w) }

// Format prints the set members, without personal or confidential values.
func (w WalletToken) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

// LogValue returns the same as a group.
func (w WalletToken) LogValue() slog.Value { return redact.LogValue(w) }
