package prepaid

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func accountChangeFixtures() []fixtureCase {
	return concat(createFixtures(), updateFixtures(), setStatusFixtures(), plasticFixtures())
}

func createFixtures() []fixtureCase {
	create := func(params CreateAccountParams) fixtureCall[*AccountSummary] {
		return fixtureOf("Accounts.Create", func(ctx context.Context, client *Client) (*AccountSummary, error) {
			return client.Accounts.Create(ctx, params)
		})
	}
	every := create(CreateAccountParams{
		CompanyID: 4217, InitialLoadAmount: MustAmount("100"), Registration: fixtureCardholder(),
		NameOnCard: "M.CANARY/TESTNAME", ClientAccountKey: "emp-7~ !", DisplayName: "Canary Employer - Meals",
		InitiatingUserID: "ops-3", PlasticEnabled: new(false),
		// Any zone and fraction is sent as UTC to the second.
		PlasticExpiry:          time.Date(2029, time.December, 1, 10, 59, 59, 5e8, time.FixedZone("", 11*60*60)),
		PortalIdentifier:       fixturePortal(),
		MDESConfigID:           "MDES-7",
		GiftCardExpiry:         fixtureTime(2027, time.June, 30, 13, 59, 59),
		CorrespondingAccountID: "EA-700100100",
		CardholderType:         CardholderTypeSecondary,
		RequestType:            RequestTypeReplace,
		AccountIDToReplace:     "EA-700100100",
		AccountExpiry:          fixtureTime(2030, time.November, 30, 23, 59, 59),
	})
	least := create(CreateAccountParams{CompanyID: 4217, Registration: fixtureLeastCardholder()})
	return append(every.usual(exampleInvalidToken, OutcomeUnknown),
		every.gives("201", fixtureSummary(func(a *AccountSummary) {
			a.Balance, a.PlasticEnabled = MustAmount("100"), false
			a.FirstTransactionOccurredAt = fixtureTime(2026, time.November, 20, 1, 2, 3)
			a.LastTransactionOccurredAt = fixtureTime(2026, time.November, 20, 1, 2, 4)
		})),
		least.gives("201-required-only", fixtureSummary(func(a *AccountSummary) {
			a.Balance, a.ProductType, a.Status = Amount{}, ProductTypeGift, AccountStatusInactive
		})),
		every.refused("404", exampleAccountNotFound, nil, OutcomeRejected),
		every.fails("404", OutcomeRejected, requireNotErrNotFound),
		every.throttled(),
	)
}

// requireNotErrNotFound is for a 404 that may mean bad input.
func requireNotErrNotFound(t *testing.T, f *fixture, err error) {
	require.Equal(t, 404, f.Response.Status)
	require.NotErrorIs(t, err, ErrNotFound)
	_, ok := errors.AsType[*APIError](err)
	require.True(t, ok)
}

func updateFixtures() []fixtureCase {
	update := func(params UpdateAccountParams) fixtureCall[struct{}] {
		return fixtureDo("Accounts.Update", func(ctx context.Context, client *Client) error {
			return client.Accounts.Update(ctx, fixtureID, params)
		})
	}
	every := update(UpdateAccountParams{
		Registration: fixtureCardholder(), ClientAccountKey: new("emp-8"), DisplayName: new("Canary Employer - Travel"),
		InitiatingUserID: "ops-3", PortalIdentifier: fixturePortal(),
	})
	return append(every.usual(exampleInvalidToken, OutcomeUnknown),
		every.gives("200", struct{}{}),
		update(UpdateAccountParams{Registration: fixtureLeastCardholder()}).gives("200-required-only", struct{}{}),
		update(UpdateAccountParams{
			Registration: fixtureLeastCardholder(), ClientAccountKey: new(""), DisplayName: new(""),
		}).gives("200-cleared", struct{}{}),
		every.unknownAccount(),
		every.throttled(),
	)
}

func setStatusFixtures() []fixtureCase {
	set := func(status AccountStatus) fixtureCall[struct{}] {
		return fixtureDo("Accounts.SetStatus", func(ctx context.Context, client *Client) error {
			return client.Accounts.SetStatus(ctx, fixtureID, status)
		})
	}
	lost := set(AccountStatusLostOrStolen)
	cases := append(lost.usual(exampleInvalidToken, OutcomeUnknown),
		lost.unknownAccount(),
		lost.throttled(),
		set(AccountStatusActive).refused("500-active", CodeServerError, ErrServer, OutcomeUnknown),
	)
	for outcome, status := range map[string]AccountStatus{
		"200-active":                      AccountStatusActive,
		"200-pre_active":                  AccountStatusPreActive,
		"200-inactive":                    AccountStatusInactive,
		"200-deactivated":                 AccountStatusDeactivated,
		"200-lost_or_stolen":              AccountStatusLostOrStolen,
		"200-expired":                     AccountStatusExpired,
		"200-suspected_fraud":             AccountStatusSuspectedFraud,
		"200-closed":                      AccountStatusClosed,
		"200-inactive_pin_tries_exceeded": AccountStatusInactivePINTriesExceeded,
		"200-vendor_inactive":             AccountStatusVendorInactive,
		"200-replaced":                    AccountStatusReplaced,
	} {
		cases = append(cases, set(status).gives(outcome, struct{}{}))
	}
	return cases
}

func plasticFixtures() []fixtureCase {
	set := func(params SetPlasticEnabledParams) fixtureCall[struct{}] {
		return fixtureDo("Accounts.SetPlasticEnabled", func(ctx context.Context, client *Client) error {
			return client.Accounts.SetPlasticEnabled(ctx, fixtureID, params)
		})
	}
	on := set(SetPlasticEnabledParams{Enabled: true, InitiatingUserID: "ops-3"})
	return append(on.usual(exampleInvalidToken, OutcomeUnknown),
		on.gives("200", struct{}{}),
		set(SetPlasticEnabledParams{}).gives("200-off", struct{}{}),
		on.unknownAccount(),
	)
}
