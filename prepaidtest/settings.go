package prepaidtest

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

func (s *settings) mediaType() string { return "application/vnd." + s.vendor + "+json" }

// service are the settings of the service.
func (s *settings) service(under *activity.Activity) serviceOptions {
	hooks := s.webhooks
	filters := make(map[string]func(ledger.Item) bool, len(hooks.filters))
	for spec, match := range hooks.filters {
		filters[spec] = func(i ledger.Item) bool { return match(transactionOf(i)) }
	}
	return serviceOptions{
		Start: s.start, Frozen: s.frozen, Seed: s.seed, NoCategory: s.noCategory, Permitted: s.permitted, ReportDelay: s.reportDelay,
		Activity: under,
		Tokens: tokenOptions{
			ClientID: s.clientID, ClientSecret: s.clientSecret, Lifetime: s.tokenLifetime, BadOnReport: s.badTokenOnReport,
		},
		Accounts: accountOptions{
			InitialStatus: s.initialStatus, ClearOmitted: s.clearOmitted, CustomPlasticExpiry: s.customPlasticExpiry,
			NewestFirst: s.newestFirst, NoCompanyPaging: s.noCompanyPaging, WalletWithCertificates: s.walletWithCertificates,
			OtherWallets: s.otherWallets, CardNetwork: s.cardNetwork,
		},
		Transfers: transferOptions{Failed: EmptyID(s.failedTransfer), EmptyDirectEntry: s.emptyDirectEntry, Logger: s.logger},
		Simulator: simulatorOptions{Delay: s.simulationDelay, MatchedReversals: s.matchedReversals},
		PINs:      pinOptions{OTPLifetime: s.otpLifetime, Tries: s.pinTries, MGF1: s.pinMGF1},
		Hooks: hookOptions{
			MediaType: s.mediaType(), Roots: hooks.roots, HTTPLoopback: hooks.httpLoopback, Signature: Signing(hooks.signature),
			Retries: hooks.retries, Timeout: hooks.timeout, AlertEvery: hooks.alertEvery, PingType: hooks.pingType,
			AlertType: hooks.alertType, Filters: filters, LogSize: s.requestLog,
		},
		MessageFaults: faults.NewQueue("", s.seed, 2, func(f faults.Delivery) faults.Schedule { return f.Schedule }),
	}
}
