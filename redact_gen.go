// Code generated from struct tags by tools/wiregen. DO NOT EDIT.

package prepaid

import (
	"fmt"
	"log/slog"

	"github.com/cardprograms/prepaid/internal/redact"
)

func (a Account) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

func (a Account) LogValue() slog.Value { return redact.LogValue(a) }

func (a AccountSummary) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

func (a AccountSummary) LogValue() slog.Value { return redact.LogValue(a) }

func (a Address) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

func (a Address) LogValue() slog.Value { return redact.LogValue(a) }

func (a AlternateAddress) Format(state fmt.State, verb rune) { redact.Format(state, verb, a) }

func (a AlternateAddress) LogValue() slog.Value { return redact.LogValue(a) }

func (b BankAccount) Format(state fmt.State, verb rune) { redact.Format(state, verb, b) }

func (b BankAccount) LogValue() slog.Value { return redact.LogValue(b) }

func (c Cardholder) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

func (c Cardholder) LogValue() slog.Value { return redact.LogValue(c) }

func (c CreateAccountParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

func (c CreateAccountParams) LogValue() slog.Value { return redact.LogValue(c) }

func (c CreateHookParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, c) }

func (c CreateHookParams) LogValue() slog.Value { return redact.LogValue(c) }

func (d DirectEntryOutParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, d) }

func (d DirectEntryOutParams) LogValue() slog.Value { return redact.LogValue(d) }

func (f FreeText) Format(state fmt.State, verb rune) { redact.Format(state, verb, f) }

func (f FreeText) LogValue() slog.Value { return redact.LogValue(f) }

func (h Hook) Format(state fmt.State, verb rune) { redact.Format(state, verb, h) }

func (h Hook) LogValue() slog.Value { return redact.LogValue(h) }

func (i InitiatePINParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

func (i InitiatePINParams) LogValue() slog.Value { return redact.LogValue(i) }

func (i IssueParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

func (i IssueParams) LogValue() slog.Value { return redact.LogValue(i) }

func (i IssueResult) Format(state fmt.State, verb rune) { redact.Format(state, verb, i) }

func (i IssueResult) LogValue() slog.Value { return redact.LogValue(i) }

func (m Message) Format(state fmt.State, verb rune) { redact.Format(state, verb, m) }

func (m Message) LogValue() slog.Value { return redact.LogValue(m) }

func (p Passport) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

func (p Passport) LogValue() slog.Value { return redact.LogValue(p) }

func (p PortalIdentifier) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

func (p PortalIdentifier) LogValue() slog.Value { return redact.LogValue(p) }

func (p ProvisionWalletParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, p) }

func (p ProvisionWalletParams) LogValue() slog.Value { return redact.LogValue(p) }

func (r RawRequest) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

func (r RawRequest) LogValue() slog.Value { return redact.LogValue(r) }

func (r RawResponse) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

func (r RawResponse) LogValue() slog.Value { return redact.LogValue(r) }

func (r RedeemFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

func (r RedeemFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

func (r RefundFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

func (r RefundFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

func (r ReverseFundingParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, r) }

func (r ReverseFundingParams) LogValue() slog.Value { return redact.LogValue(r) }

func (s SealedPINParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

func (s SealedPINParams) LogValue() slog.Value { return redact.LogValue(s) }

func (s SearchCompanyParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

func (s SearchCompanyParams) LogValue() slog.Value { return redact.LogValue(s) }

func (s SimulateParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, s) }

func (s SimulateParams) LogValue() slog.Value { return redact.LogValue(s) }

func (t TransferParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, t) }

func (t TransferParams) LogValue() slog.Value { return redact.LogValue(t) }

func (u UpdateAccountParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, u) }

func (u UpdateAccountParams) LogValue() slog.Value { return redact.LogValue(u) }

func (u UpdateHookParams) Format(state fmt.State, verb rune) { redact.Format(state, verb, u) }

func (u UpdateHookParams) LogValue() slog.Value { return redact.LogValue(u) }

func (w WalletDevice) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

func (w WalletDevice) LogValue() slog.Value { return redact.LogValue(w) }

func (w WalletProvisioning) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

func (w WalletProvisioning) LogValue() slog.Value { return redact.LogValue(w) }

func (w WalletToken) Format(state fmt.State, verb rune) { redact.Format(state, verb, w) }

func (w WalletToken) LogValue() slog.Value { return redact.LogValue(w) }
