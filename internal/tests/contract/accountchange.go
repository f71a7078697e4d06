package contract

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func accountChangeFixtures() []Case {
	return concat(createFixtures(), updateFixtures(), setStatusFixtures(), plasticFixtures())
}

func createFixtures() []Case {
	create := func(params prepaid.CreateAccountParams) fixtureCall[*prepaid.AccountSummary] {
		return fixtureWith[*prepaid.AccountSummary]("Accounts.Create", params)
	}
	every := create(texts(prepaid.CreateAccountParams{
		CompanyID: 4217, InitialLoadAmount: prepaid.MustAmount("100"), Cardholder: fixtureCardholder(),
		NameOnCard: "M.CANARY/TESTNAME", ClientAccountKey: "emp-7~ !", DisplayName: "Canary Employer - Meals",
		InitiatingUserID: "ops-3", PlasticEnabled: new(false),
		// A time in any zone is sent in UTC, without a fraction of a second.
		PlasticExpiry:          time.Date(2029, time.December, 1, 10, 59, 59, 5e8, time.FixedZone("", 11*60*60)),
		PortalIdentifier:       fixturePortal(),
		MDESConfigID:           "MDES-7",
		GiftCardExpiry:         fixtureTime(2027, time.June, 30, 13, 59, 59),
		CorrespondingAccountID: "EA-700100100",
		CardholderType:         prepaid.CardholderTypeSecondary,
		RequestType:            prepaid.RequestTypeReplace,
		AccountIDToReplace:     "EA-700100100",
		AccountExpiry:          fixtureTime(2030, time.November, 30, 23, 59, 59),
	}))
	least := create(prepaid.CreateAccountParams{CompanyID: 4217, Cardholder: fixtureLeastCardholder()})
	return append(every.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		every.gives("201", fixtureSummary(func(a *prepaid.AccountSummary) {
			a.Balance, a.PlasticEnabled = prepaid.MustAmount("100"), false
			a.FirstTransactionOccurredAt = fixtureTime(2026, time.November, 20, 1, 2, 3)
			a.LastTransactionOccurredAt = fixtureTime(2026, time.November, 20, 1, 2, 4)
		})),
		least.gives("201-required-only", fixtureSummary(func(a *prepaid.AccountSummary) {
			a.Balance, a.ProductType, a.Status = prepaid.Amount{}, prepaid.ProductTypeGift, prepaid.AccountStatusInactive
		})),
		every.refused("404", exampleAccountNotFound, nil, prepaid.OutcomeRejected),
		every.fails("404", prepaid.OutcomeRejected, requireNotErrNotFound),
		every.throttled(),
	)
}

// requireNotErrNotFound is for a 404 that may mean bad input.
func requireNotErrNotFound(t *testing.T, f *Fixture, err error) {
	require.Equal(t, 404, f.Response.Status)
	require.NotErrorIs(t, err, prepaid.ErrNotFound)
	require.ErrorAs(t, err, new(*prepaid.APIError))
}

func updateFixtures() []Case {
	update := func(params prepaid.UpdateAccountParams) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Accounts.Update", fixtureID, params)
	}
	every := update(texts(prepaid.UpdateAccountParams{
		Cardholder: fixtureCardholder(), ClientAccountKey: new("emp-8"), DisplayName: new("Canary Employer - Travel"),
		InitiatingUserID: "ops-3", PortalIdentifier: fixturePortal(),
	}))
	return append(every.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		every.gives("200", struct{}{}),
		update(prepaid.UpdateAccountParams{Cardholder: fixtureLeastCardholder()}).gives("200-required-only", struct{}{}),
		update(prepaid.UpdateAccountParams{
			Cardholder: fixtureLeastCardholder(), ClientAccountKey: new(""), DisplayName: new(""),
		}).gives("200-cleared", struct{}{}),
		every.unknownAccount(),
		every.throttled(),
	)
}

func setStatusFixtures() []Case {
	set := func(status prepaid.AccountStatus) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Accounts.SetStatus", fixtureID, prepaid.SetStatusParams{Status: status})
	}
	lost := set(prepaid.AccountStatusLostOrStolen)
	cases := append(lost.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		lost.unknownAccount(),
		lost.throttled(),
		set(prepaid.AccountStatusActive).refused("500-active", prepaid.CodeServerError, prepaid.ErrServer, prepaid.OutcomeUnknown),
	)
	for _, status := range fixtureStatuses() {
		cases = append(cases, set(status).gives("200-"+string(status), struct{}{}))
	}
	return cases
}

func plasticFixtures() []Case {
	set := func(params prepaid.SetPlasticEnabledParams) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Accounts.SetPlasticEnabled", fixtureID, params)
	}
	on := set(prepaid.SetPlasticEnabledParams{Enabled: true, InitiatingUserID: "ops-3"})
	return append(on.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		on.gives("200", struct{}{}),
		set(prepaid.SetPlasticEnabledParams{}).gives("200-off", struct{}{}),
		on.unknownAccount(),
	)
}
