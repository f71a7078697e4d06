package prepaidtest

import (
	"cmp"
	"crypto"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// settings are a server's options with their defaults. They do not change after the start.
type settings struct {
	Options

	form    *exchange.Form
	service service.Options
}

func newSettings(o Options) (settings, error) {
	o.ClientID, o.ClientSecret = cmp.Or(o.ClientID, "emulator-client"), cmp.Or(o.ClientSecret, "emulator-secret")
	o.Vendor, o.ListenOn = cmp.Or(o.Vendor, "vendor"), cmp.Or(o.ListenOn, "127.0.0.1:0")
	o.RateLimit, o.RateWindow = max(cmp.Or(o.RateLimit, 1000), 0), cmp.Or(o.RateWindow, 10*time.Second)
	o.InitialStatus = cmp.Or(o.InitialStatus, "pre_active")
	o.PageSizes = cmp.Or(o.PageSizes, PageSizes{Least: 1, Normal: 50, Most: 500})
	o.Signature = cmp.Or(o.Signature, &Signature{Header: "X-Signature", KeyIDHeader: "X-Hmac-Key-Id"})
	if o.Kind {
		o.KeepOmittedMembers, o.OldestTransactionsFirst, o.CompanySearchPaging, o.RefuseFailedDirectEntry = true, true, true, true
		o.UnauthorizedReportStart, o.MatchedReversalsOnly, o.MatchByAuthorizationID = true, true, true
	}
	s := settings{Options: o}
	s.form = &exchange.Form{
		MediaType: "application/vnd." + o.Vendor + "+json", Lenient: o.Lenient, PageSizes: wire.PageSizes(o.PageSizes),
	}
	s.service = service.Options{
		Start: o.StartAt, Frozen: o.FrozenClock, Seed: o.RandomSeed,
		Permitted: slices.Clone(o.PermittedCompanies), ReportDelay: delay(o.ReportDelay),
		Tokens: gate.TokenOptions{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret, Lifetime: cmp.Or(o.TokenLifetime, time.Hour), UnauthorizedReport: o.UnauthorizedReportStart,
		},
		Accounts: accounts.Options{
			InitialStatus: o.InitialStatus, KeepOmitted: o.KeepOmittedMembers, OldestFirst: o.OldestTransactionsFirst, CompanyPaging: o.CompanySearchPaging,
		},
		Transfers: transfers.Options{
			Failed: transfers.EmptyID(o.FailedTransfer), RefuseDirectEntry: o.RefuseFailedDirectEntry, UncachedLoads: o.UncachedLoads, Logger: o.Logger,
		},
		Simulator: simulator.Options{Delay: delay(o.SimulationDelay), MatchedReversals: o.MatchedReversalsOnly, MatchByID: o.MatchByAuthorizationID},
		PINs:      pin.Options{OTPLifetime: cmp.Or(o.OTPLifetime, 10*time.Minute), MGF1: o.PINMGF1},
		Hooks: hooks.Options{
			MediaType: s.form.MediaType, Roots: o.WebhookRoots, HTTPLoopback: o.AllowHTTPOnLoopback, Lenient: s.Lenient, Signature: hooks.Signing(*o.Signature),
			Retries: o.DeliveryRetries, Timeout: cmp.Or(o.DeliveryTimeout, 5*time.Second), AlertEvery: cmp.Or(o.AlertEvery, time.Hour),
			LogSize: max(cmp.Or(o.RequestLog, 10_000), 0),
		},
	}
	return s, s.validate()
}

// delay returns the default for zero, and zero for a negative delay.
func delay(d time.Duration) time.Duration { return max(cmp.Or(d, 100*time.Millisecond), 0) }

func (s *settings) validate() error {
	var faults []error
	check := func(ok bool, rule string) {
		if !ok {
			faults = append(faults, errors.New("prepaidtest: "+rule))
		}
	}
	check(!strings.ContainsAny(s.Vendor, " /;+"), "Vendor: must be one word")
	check(!strings.Contains(s.ClientID, ":"), "ClientID: must have no colon")
	check(s.form.PageSizes.Valid(), "PageSizes: must rise and begin at 1 or above")
	check(s.StartAt.IsZero() || (s.StartAt.Year() >= 1970 && !s.StartAt.After(clock.End())), "StartAt: must be from 1970 to 2200")
	check(s.TokenLifetime >= 0, "TokenLifetime: must not be negative")
	check(s.RateWindow > 0, "RateWindow: must not be negative")
	check(slices.Contains(AccountStatuses(), s.InitialStatus), "InitialStatus: must be one of the eleven statuses")
	check(slices.Contains([]crypto.Hash{0, crypto.SHA1, crypto.SHA256, crypto.SHA512}, s.PINMGF1), "PINMGF1: must be SHA1, SHA256 or SHA512")
	check(!slices.ContainsFunc(s.AllowedAddresses, gate.TooWide), "AllowedAddresses: must be prefixes, none of IPv4 larger than /29")
	return errors.Join(faults...)
}
