package prepaidtest

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/gate"
	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
	"github.com/cardprograms/prepaid/prepaidtest/internal/transfers"
)

func (s *settings) mediaType() string { return "application/vnd." + s.vendor + "+json" }

// service are the settings of the service.
func (s *settings) service(running *activity.Activity, deliveryFaults *faults.Queue[faults.Delivery]) service.Options {
	webhooks := s.webhooks
	filters := make(map[string]func(ledger.Item) bool, len(webhooks.filters))
	for spec, match := range webhooks.filters {
		filters[spec] = func(i ledger.Item) bool { return match(transactionOf(i)) }
	}
	return service.Options{
		Start: s.start, Frozen: s.frozen, Seed: s.seed, NoCategory: s.noCategory, Permitted: s.permitted, ReportDelay: s.reportDelay,
		Activity: running,
		Tokens: gate.TokenOptions{
			ClientID: s.clientID, ClientSecret: s.clientSecret, Lifetime: s.tokenLifetime, BadOnReport: s.badTokenOnReport,
		},
		Accounts: accounts.Options{
			InitialStatus: s.initialStatus, ClearOmitted: s.clearOmitted, CustomPlasticExpiry: s.customPlasticExpiry,
			NewestFirst: s.newestFirst, NoCompanyPaging: s.noCompanyPaging, CompanyObject: s.companyObject,
			WalletWithCertificates: s.walletWithCertificates, OtherWallets: s.otherWallets, CardNetwork: s.cardNetwork,
		},
		Transfers: transfers.Options{Failed: transfers.EmptyID(s.failedTransfer), EmptyDirectEntry: s.emptyDirectEntry, Logger: s.logger},
		Simulator: simulator.Options{Delay: s.simulationDelay, MatchedReversals: s.matchedReversals, MatchByID: s.matchByID},
		PINs:      pin.Options{OTPLifetime: s.otpLifetime, Tries: s.pinTries, MGF1: s.pinMGF1},
		Hooks: hooks.Options{
			MediaType: s.mediaType(), Roots: webhooks.roots, HTTPLoopback: webhooks.httpLoopback, Signature: hooks.Signing(webhooks.signature),
			Retries: webhooks.retries, Timeout: webhooks.timeout, AlertEvery: webhooks.alertEvery, PingType: webhooks.pingType,
			AlertType: webhooks.alertType, Filters: filters, LogSize: s.requestLog,
		},
		MessageFaults: deliveryFaults,
	}
}
